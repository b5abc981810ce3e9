"""Robots from URDF files, Denavit-Hartenberg tables and TOML, and to URDF."""
