"""From logs to a robot: regression, identifiable parameters, physically consistent estimates."""
