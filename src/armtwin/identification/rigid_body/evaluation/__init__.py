"""The identified robot: estimate, validation, diagnostics, and what it shows."""
