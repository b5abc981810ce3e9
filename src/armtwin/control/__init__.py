"""Sampled servo controllers, one for each motor, with explicit state."""
