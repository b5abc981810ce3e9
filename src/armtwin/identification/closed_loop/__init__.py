"""Estimates for logs whose noise went round the loop of the servo."""
