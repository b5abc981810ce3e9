"""The payload of a robot from runs of one motion with and without it."""
