"""Twins for other tools: Functional Mock-up Units, written and taken in."""
