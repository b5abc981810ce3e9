"""The regression of a robot's parameters, physically consistent, with drive gains."""
