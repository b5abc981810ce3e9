"""Logs: what a machine or a simulation recorded."""
