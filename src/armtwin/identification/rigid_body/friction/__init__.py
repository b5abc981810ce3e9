"""Which friction terms the logs need: pre-sliding hysteresis, shape and load."""
