"""Compiles every kernel once, so that parallel test workers find them in the shared cache."""
