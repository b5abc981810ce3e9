"""What a simulation is coupled to: a callable that gives torques while it runs."""

from collections.abc import Callable

from armtwin.maths.batch import Floats

# From time [s], positions and speeds of the links, (n,) each, to torques on the joints, (n,) [N m].
Partner = Callable[[float, Floats, Floats], Floats]
