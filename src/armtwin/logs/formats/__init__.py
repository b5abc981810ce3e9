"""Layouts in which controllers and tools write logs: a reader each, chosen by content."""
