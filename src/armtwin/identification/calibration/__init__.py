"""Geometry of a robot from measured positions of its tool."""
