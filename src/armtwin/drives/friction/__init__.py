"""Friction laws, one file a family; the registry of all of them is `laws`."""
