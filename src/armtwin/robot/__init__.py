"""Robot arms: description, files, kinematics and dynamics behind one dataclass."""
