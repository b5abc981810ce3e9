"""The servo of a robot from its logs: which law it follows, with what gains, and how well."""
