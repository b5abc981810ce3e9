"""Columns, a target and a prior -> parameters with standard deviations; no robot, no log."""
