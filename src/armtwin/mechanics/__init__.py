"""Three-dimensional rigid bodies: kinematics and dynamics of trees of bodies, as compiled kernels."""
