"""Everything one-dimensional between command and joint: balancers, friction, gears, hydraulics."""
