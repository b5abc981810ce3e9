"""Friction that grows with the load of its gear."""
