"""Stiffness, backlash and friction of a transmission whose joint is clamped."""
