"""Stiffness and lost motion of transmissions from ordinary logs of two encoders."""
