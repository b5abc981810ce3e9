"""Versions of what a result was made by."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from armtwin.maths.batch import NamedTexts
from armtwin.maths.sources import source_stamp

PACKAGES = ("armtwin", "numpy", "scipy", "numba")
RUNS = "sweeps/work"  # runs predictions: all that their numbers depend on is imported there


def versions() -> NamedTexts:
    """Versions of Python and the packages a result depends on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        found[name] = version_of(name)
    return found


@cache
def version_of(package: str) -> str:
    """Version of a package; "unknown" where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"


@cache
def stamped_version() -> str:
    """Version of armtwin and stamp of the sources that predictions depend on, as 0.1.0+1a2b..."""
    return f"{version_of('armtwin')}+{source_stamp(Path(__file__).parents[1], RUNS)}"


def stamped_versions() -> NamedTexts:
    """Versions of what predictions are made by, that of armtwin with the stamp of its sources."""
    return {**versions(), "armtwin": stamped_version()}
