"""Closed loops of arm, drives and servo in time."""
