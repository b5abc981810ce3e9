"""Writing files so that they are whole or not there; this room knows no robot."""
