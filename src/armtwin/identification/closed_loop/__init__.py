"""Estimates for logs with noise fed back by the servo."""
