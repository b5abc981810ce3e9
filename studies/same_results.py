"""Whether armtwin gives the same numbers before and after a change of its code.

    python studies/same_results.py --run DIR [--only NAME ...]
    python studies/same_results.py BEFORE AFTER [--renamed FILE.toml] [--texts]

`--run` makes the folder DIR and runs every case of same_results_cases.py with the armtwin that this
Python imports, each into DIR/NAME: result.json, robot file, tables, and outcome.json with the exit
code and what was said on stderr. Data sets are those of ../shared/data; without them their cases
are skipped.

BEFORE and AFTER are two such folders. All results (.json), robot files (.toml), tables (.csv) and
covariances (.npz) are compared: a number that differs by more than 1e-12 of its size, a key or a
file that is missing in AFTER, a value of another type each make the exit code 1. Texts that differ
are counted, and with `--texts` printed. What is new in AFTER, and what differs from run to run
(`run`, `files`, digests, versions, CPU time), does not count. FILE.toml says what was meant:

    [renamed]                       # keys, without the numbers of list entries; "" where it is gone
    "joints.told" = "joints.identified"
    [changed]                       # cases that are listed and do not count, with the reason
    analyse_tx40_sag = "was refused before"
"""

import argparse
import csv
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

TOLERANCE = 1e-12  # of the size of a number
SMALLEST = 1e-15  # size below which a difference is taken as absolute
ASIDE = {"run", "files", "inputs_sha256", "versions", "cpu_s"}
DATA = "data"  # folder of the measured logs, which no run changes
SHOWN = 20  # differences listed for each file

Place = tuple[str | int, ...]
Leaves = dict[Place, Any]


@dataclass(frozen=True)
class Meant:
    """What a change of the code was meant to change.

    Attributes:
        renamed: New key for an old one, dotted; "" where it is gone.
        changed: Reason why the results of a case are others.
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Difference:
    """What differs between two files.

    Attributes:
        numbers: How many numbers were compared.
        largest: Largest difference of a number, of its size.
        failures: A sentence for each difference that counts.
        texts: A sentence for each text that differs.
    """

    numbers: int = 0
    largest: float = 0.0
    failures: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


def compare_folders(before: Path, after: Path, meant: Meant) -> dict[str, Difference]:
    """Differences of all files of results, by their place in the folders."""
    found = {}
    others = _result_files(after)
    for name, file in _result_files(before).items():
        if name in others:
            found[name] = compare_leaves(
                rename_keys(read_leaves(file), meant.renamed), read_leaves(others[name])
            )
        else:
            found[name] = Difference(failures=["the file is missing after"])
    for name in sorted(others.keys() - found.keys()):
        found[name] = Difference(failures=["the file is missing before"])
    return found


def _result_files(folder: Path) -> dict[str, Path]:
    """Files that hold numbers, by their place in the folder."""
    files = {}
    for file in sorted(folder.rglob("*")):
        place = file.relative_to(folder)
        if file.suffix in READERS and place.parts[0] != DATA:
            files[place.as_posix()] = file
    return files


def compare_leaves(before: Leaves, after: Leaves) -> Difference:
    """Differences of what two files hold."""
    found = Difference()
    for place, old in before.items():
        if place not in after:
            found.failures.append(f"{dotted(place)} is missing after, was {_short(old)}")
        else:
            _compare_values(dotted(place), old, after[place], found)
    return found


def _compare_values(key: str, old: Any, new: Any, found: Difference) -> None:
    if _is_number(old) and _is_number(new):
        found.numbers += 1
        size = relative_difference(old, new)
        found.largest = max(found.largest, size)
        if size > TOLERANCE:
            found.failures.append(f"{key}: {old!r} -> {new!r}, {size:.2g} of its size")
    elif isinstance(old, str) and isinstance(new, str):
        if old != new:
            found.texts.append(f"{key}:\n    - {old}\n    + {new}")
    elif old is not new:
        found.failures.append(f"{key}: {_short(old)} -> {_short(new)}")


def relative_difference(old: float, new: float) -> float:
    """Difference of two numbers over the larger of their sizes; 0 of two that are not numbers."""
    if old == new or (old != old and new != new):
        return 0.0
    size = abs(old - new) / max(abs(old), abs(new), SMALLEST)
    return size if size == size else float("inf")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def dotted(place: Place) -> str:
    """A place in words, as joints[2].name."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return text.removeprefix(".")


def rename_keys(leaves: Leaves, renamed: Mapping[str, str]) -> Leaves:
    """Leaves at their new places, without those that are gone."""
    result = {}
    for place, value in leaves.items():
        for old, new in renamed.items():
            if _starts_with(place, old):
                place = _replace_start(place, old, new) if new else None
                break
        if place is not None:
            result[place] = value
    return result


def _starts_with(place: Place, key: str) -> bool:
    keys = ".".join(part for part in place if isinstance(part, str))
    return f"{keys}.".startswith(f"{key}.")


def _replace_start(place: Place, old: str, new: str) -> Place:
    """The place with its first keys replaced; list entries keep their position behind a key."""
    rest = old.count(".") + 1
    groups: list[list[str | int]] = []
    for part in place:
        if isinstance(part, str):
            groups.append([part])
        else:
            groups[-1].append(part)
    names = new.split(".")
    entries = [group[1:] for group in groups[:rest]]
    while len(entries) > len(names):
        last = entries.pop()
        entries[-1] += last
    entries += [[]] * (len(names) - len(entries))
    head = [part for name, numbers in zip(names, entries, strict=True) for part in (name, *numbers)]
    return (*head, *(part for group in groups[rest:] for part in group))


def read_leaves(file: Path) -> Leaves:
    """Numbers, texts and truths of a file by their places."""
    return dict(_leaves(READERS[file.suffix](file), ()))


def _leaves(value: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    """Leaves of tables and lists; a list of texts is one text, as its length is that of a page."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if key not in ASIDE:
                yield from _leaves(entry, (*place, key))
    elif isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        yield place, "\n".join(value)
    elif isinstance(value, list):
        yield (*place, "length"), len(value)
        for k, entry in enumerate(value):
            yield from _leaves(entry, (*place, k))
    else:
        yield place, value


def _read_json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _read_toml(file: Path) -> Any:
    """The tables of a file; a number as numpy prints it counts as the number."""
    text = file.read_text(encoding="utf-8")
    return tomllib.loads(re.sub(r"np\.float64\(([^()]*)\)", r"\1", text))


def _read_csv(file: Path) -> Any:
    """Columns by their names, numbers where they are numbers."""
    with open(file, encoding="utf-8", newline="") as lines:
        head, *rows = csv.reader(lines)
    columns = {}
    for k, name in enumerate(head):
        columns[name] = [_number_or_text(row[k]) for row in rows if k < len(row)]
    return columns


def _number_or_text(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word


def _read_npz(file: Path) -> Any:
    with np.load(file) as arrays:
        return {name: arrays[name].tolist() for name in arrays.files}


READERS = {".json": _read_json, ".toml": _read_toml, ".csv": _read_csv, ".npz": _read_npz}


def read_meant(file: Path | None) -> Meant:
    """What a file says was meant to change."""
    return Meant() if file is None else Meant(**_read_toml(file))


def print_differences(found: Mapping[str, Difference], meant: Meant, texts: bool) -> int:
    """Print what differs, and give the exit code."""
    failed = 0
    for name, difference in found.items():
        reason = meant.changed.get(name.partition("/")[0])
        failures = difference.failures
        failed += bool(failures) and reason is None
        print(
            f"{name}: {difference.numbers} numbers, largest difference {difference.largest:.3g}, "
            f"{len(difference.texts)} texts differ"
            + (f"; meant to change: {reason}" if reason else "")
        )
        for line in failures[:SHOWN]:
            print(f"  {line}")
        if len(failures) > SHOWN:
            print(f"  and {len(failures) - SHOWN} more")
        for line in difference.texts if texts else ():
            print(f"  {line}")
    numbers = sum(difference.numbers for difference in found.values())
    largest = max((difference.largest for difference in found.values()), default=0.0)
    changed = sum(len(difference.texts) for difference in found.values())
    print(
        f"{len(found)} files, {numbers} numbers, largest difference {largest:.3g}; "
        f"{changed} texts differ; {failed} files differ in more than texts"
    )
    return 1 if failed or not found else 0


def main(words: Sequence[str]) -> int:
    """Run the cases, or compare two folders of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="BEFORE AFTER")
    parser.add_argument("--run", type=Path, metavar="DIR", help="run the cases into this folder")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="cases to run")
    parser.add_argument("--renamed", type=Path, metavar="FILE", help="what was meant to change")
    parser.add_argument("--texts", action="store_true", help="print texts that differ")
    asked = parser.parse_args(words)
    if asked.run is not None:
        from same_results_runs import run_cases

        return run_cases(asked.run, asked.only)
    if len(asked.folders) != 2 or not all(folder.is_dir() for folder in asked.folders):
        parser.error("give two folders BEFORE AFTER, or --run DIR")
    meant = read_meant(asked.renamed)
    found = compare_folders(*asked.folders, meant)
    return print_differences(found, meant, asked.texts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
