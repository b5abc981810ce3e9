"""What a robot file may say: its groups, their checks, and where numbers come from."""
