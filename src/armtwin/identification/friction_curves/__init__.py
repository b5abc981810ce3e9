"""Friction laws from torques at constant speed, temperature, and what comes before sliding."""
