"""Motions of the joints."""
