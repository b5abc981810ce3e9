"""Inertia, friction and rotors of a robot from the torques of its motions."""
