"""When a joint of a log counts as at rest: one share of speed, one of travel, one range."""

# Share of a joint's highest speed below which it counts as at rest: there friction may have either
# sign, and a filter smears a reversal over about as much.
SLOW_SHARE = 0.02

# Share of the fastest joint's speed, or of the largest travel, below which another joint does not
# move: what couplings and controllers leave of a standstill.
STILL_SHARE = 1e-3

# Range of a channel that does not move [rad, m]: about the last digit that logs are written with.
STILL_RANGE = 1e-6
