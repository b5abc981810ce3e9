"""Exciting trajectories for parameter identification."""
