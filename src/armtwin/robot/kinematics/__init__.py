"""Inverse kinematics, coordinates, strokes and limits of a robot."""
