"""The band of a verdict: what the numbers that are not known exactly make of it."""
