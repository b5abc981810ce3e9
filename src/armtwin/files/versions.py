"""Versions of what a result was made by."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from armtwin.maths.batch import NamedTexts

PACKAGES = ("armtwin", "numpy", "scipy", "numba")


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
