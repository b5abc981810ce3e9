"""Logs checked, filtered and prepared for an identification."""
