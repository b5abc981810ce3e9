"""Which single mistake would make logged torques fit the robot file."""
