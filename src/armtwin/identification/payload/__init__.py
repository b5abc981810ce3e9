"""What a robot carries, from runs of one motion with it and without it."""
