"""The 90 % interval of a verdict, by the numbers that are not known exactly."""
