"""Equations of motion of a robot: bodies, rows, friction columns, static deflection."""
