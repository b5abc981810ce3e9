"""Motions that tell a robot's parameters well, designed before the robot moves."""
