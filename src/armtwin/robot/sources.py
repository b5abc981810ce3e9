"""Sources of a group some of whose numbers were renewed: the others keep theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Renewed = Mapping[str, Mapping[str, bool]]  # key -> parameters that it holds, whether renewed

# keys under which an older source may speak of a number that is now written under another
ALSO = {"mass": ("body",), "first_moment": ("com", "body"), "inertia": ("body",)}


def renewed(
    old: str | dict[str, str], source: str, numbers: Renewed, others: Iterable[str] = ()
) -> str | dict[str, str]:
    """The source of a group with new numbers: one text where all have the same.

    Args:
        old: Its source before.
        source: The source of the numbers that were renewed.
        numbers: For each key with parameters their names, and whether each was renewed.
        others: Keys that hold no parameter.
    """
    texts = {}
    for key, parameters in numbers.items():
        texts[key] = _text(_of_key(old, key), source, parameters)
    for key in others:
        texts[key] = _of_key(old, key)
    different = set(texts.values())
    return different.pop() if len(different) == 1 else texts


def _of_key(old: str | dict[str, str], key: str) -> str:
    """What a source says of a key."""
    if isinstance(old, str):
        return old
    for name in (key, *ALSO.get(key, ())):
        if name in old:
            return old[name]
    return next(iter(old.values()))


def _text(old: str, source: str, parameters: Mapping[str, bool]) -> str:
    """The source of a key; numbers of it that were not renewed are named."""
    kept = [name for name, is_new in parameters.items() if not is_new]
    if len(kept) == len(parameters):
        return old
    if not kept:
        return source
    return f"{source}; {', '.join(kept)} as before ({old})"
