"""The direction of gravity in the base frame, from logs."""
