"""Whether two folders of results hold the same numbers.

    python studies/same_results.py BEFORE AFTER

Every result.json below BEFORE is compared with that of the same place below AFTER: keys that are
missing, texts that differ, and the largest relative difference of a number. What is new in AFTER,
and what tells runs apart (`run`, `files`, digests, versions), does not count.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ASIDE = {"run", "files", "inputs_sha256", "versions"}
SMALLEST = 1e-9  # size below which a difference is taken as absolute


def differences(before: Any, after: Any, place: str) -> Iterator[tuple[str, float]]:
    """Places that differ, with the size of the difference; inf where it is no number."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() - ASIDE:
            if key in after:
                yield from differences(before[key], after[key], f"{place}.{key}")
            else:
                yield f"{place}.{key}", float("inf")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for k, (a, b) in enumerate(zip(before, after, strict=True)):
            yield from differences(a, b, f"{place}[{k}]")
    elif _is_number(before) and _is_number(after):
        yield place, abs(before - after) / max(abs(before), abs(after), SMALLEST)
    elif before != after:
        yield place, float("inf")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def main(before: Path, after: Path) -> None:
    """Print what differs."""
    for file in sorted(before.rglob("*result.json")):
        other = after / file.relative_to(before)
        pair = (json.loads(path.read_text(encoding="utf-8")) for path in (file, other))
        found = list(differences(*pair, ""))
        worst = max(found, key=lambda x: x[1], default=("", 0.0))
        print(
            f"{file.relative_to(before)}: {len(found)} numbers, largest {worst[1]:.3g} {worst[0]}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
