"""Mathematics that knows no robot: compiled kernels, batches, units, rotations."""
