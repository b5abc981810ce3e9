"""Versions that a row of results was made by."""

from __future__ import annotations

import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that a prediction depends on."""
    from armtwin import __version__

    found = {"armtwin": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "numba"):
        found[name] = version(name)
    return found
