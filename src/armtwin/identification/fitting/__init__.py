"""Columns, a target and a prior -> parameters with deviations; knows no robot and no log."""
