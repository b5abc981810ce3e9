"""Warm-up of joints from a log of one motion repeated."""
