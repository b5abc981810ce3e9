"""Numbers for what a robot file does not give, by rule."""
