"""Three-dimensional rigid bodies: kinematics and dynamics of trees, as compiled kernels."""
