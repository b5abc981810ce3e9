"""The dataclass Sweep: jobs, robots and what differs from run to run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from armtwin.errors import ArmtwinError, FileError, blame
from armtwin.files.fields import own_problems
from armtwin.files.names import folder_of
from armtwin.files.reading import load_description
from armtwin.files.schema import Schema
from armtwin.files.versions import stamped_version
from armtwin.jobs.files import list_named, list_shipped as shipped_jobs
from armtwin.jobs.job import Job
from armtwin.maths.batch import Record
from armtwin.notebook import cards
from armtwin.notebook.sections import Facts, Report, Section
from armtwin.report.result import Result
from armtwin.robot.files import list_shipped as shipped_robots
from armtwin.sweeps.axes import MOST_RUNS, Design, SweepAxis, axis_of, check_counts, design_of
from armtwin.sweeps.bases import Base, base_of
from armtwin.sweeps.description import AxisGroup, SweepDescription
from armtwin.sweeps.settings import Changes, overlap, setting
from armtwin.sweeps.work import SweepRun

SCHEMA = Schema(SweepDescription, "sweep file")
KEY_BYTES = 16  # of a hash that names a run
TRIED = 3  # values of an axis that are tried on each job before anything is run
LOOKED_AT = 1000  # runs that are looked up in a table together
MOST_SETTINGS = 4096  # that are cached


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result):
    """Many runs that are asked for.

    Attributes:
        description: What its file says.
        origin: Where it came from, "" for one made otherwise.
        given: Jobs that were given in place of names.
    """

    description: SweepDescription
    origin: str = ""
    given: tuple[Job, ...] = ()

    def __post_init__(self) -> None:
        found = list(own_problems(self.description))
        if found:
            raise FileError(self.place, found)

    @staticmethod
    def load(path: str | Path) -> Sweep:
        """A sweep file."""
        return Sweep(*load_description(path, "sweep", SCHEMA, {}))

    @staticmethod
    def over(
        jobs: Job | Sequence[Job],
        axes: Mapping[str, Sequence[Any]],
        factors: Mapping[str, Sequence[float]] | None = None,
        **options: Any,
    ) -> Sweep:
        """A sweep of jobs over values of key paths.

        Args:
            jobs: One job, or several.
            axes: Values by key path, as {"speed": ["100 mm/s", "200 mm/s"]}.
            factors: Factors on what the files have, by key path or uncertain quantity.
            **options: Other keys of a sweep file, as design, runs, seed, band or name.
        """
        some = (jobs,) if isinstance(jobs, Job) else tuple(jobs)
        groups = []
        for key, values in axes.items():
            groups.append(AxisGroup(key, tuple(_plain(value) for value in values)))
        for key, values in (factors or {}).items():
            some_factors = tuple(_plain(value) for value in values)
            groups.append(AxisGroup(key, some_factors, relative=True))
        options.setdefault("name", some[0].name if some else "sweep")
        names = tuple(job.name for job in some)
        return Sweep(SweepDescription(names, tuple(groups), **options), given=some)

    def __repr__(self) -> str:
        d = self.description
        keys = ", ".join(axis.key for axis in d.axis)
        return cards.line("Sweep", repr(d.name), d.design, keys)

    def sections(self) -> Report:
        """What is in its file; every axis was tried on its jobs, nothing was run."""
        return Report(
            title=self.description.title or self.name,
            subtitle=f"{self.name}: sweep file, format 1",
            sections=(Section("", (Facts(tuple(self._facts())),)),),
        )

    def _facts(self) -> Iterator[tuple[str, str]]:
        d = self.description
        yield "jobs", ", ".join(dict.fromkeys(base.job.name for base in self.bases))
        yield "robots", ", ".join(dict.fromkeys(base.robot for base in self.bases))
        for axis in self.axes:
            yield axis.label, f"{axis.key}: {axis.ends}"
        yield "design", d.design
        yield "runs", f"{len(self)}, {'with 90 % intervals' if d.band else 'nominal'}"

    def __len__(self) -> int:
        return len(self.bases) * self.design.count

    @property
    def name(self) -> str:
        """Its short name."""
        return self.description.name

    @property
    def place(self) -> str:
        """What error messages name: its file, or that it is a sweep."""
        return self.origin or f"sweep '{self.description.name}'"

    @cached_property
    def axes(self) -> tuple[SweepAxis, ...]:
        """What differs from run to run."""
        found = []
        problems = []
        for k, group in enumerate(self.description.axis, 1):
            try:
                found.append(axis_of(group))
            except ArmtwinError as error:
                problems.append(f"axis.{k} ('{group.key}') {error}")
        if problems:
            raise FileError(self.place, problems)
        return tuple(found)

    @cached_property
    def design(self) -> Design:
        """The points that are asked for, for each job and robot."""
        with blame(self.place):
            check_counts(self.description)
            made = design_of(self.description, self.axes)
        count = made.count * self._count_of_bases()
        if count > MOST_RUNS:
            sentence = f"a sweep must have at most {MOST_RUNS:,} runs, got {count:,}"
            raise FileError(self.place, sentence)
        return made

    def _count_of_bases(self) -> int:
        d = self.description
        return (len(self.given) or len(d.jobs)) * max(1, len(d.robots))

    @cached_property
    def jobs(self) -> tuple[Job, ...]:
        """Each job, with each robot."""
        named = self.given or tuple(self._job(name) for name in self.description.jobs)
        if not self.description.robots:
            return named
        found = []
        for job in named:
            for name in self.description.robots:
                found.append(job.with_robot(self._robot_file(name)))
        return tuple(found)

    def _job(self, name: str) -> Job:
        beside = self.folder / name
        is_other = name in shipped_jobs() or not os.path.exists(beside)
        return Job.load(name if is_other else beside)

    def _robot_file(self, name: str) -> str:
        """A robot as a job anywhere names it."""
        beside = self.folder / name
        if name in shipped_robots() or not os.path.exists(beside):
            return name
        return str(beside.resolve())

    @property
    def folder(self) -> Path:
        """Folder in which files that it names lie."""
        return folder_of(self.origin)

    @property
    def files(self) -> list[Path]:
        """All files that it is read from."""
        found = [Path(self.origin)] if self.origin else []
        for job in self.jobs:
            found.append(Path(job.origin))
            found += [job.beside(name) for name in list_named(job.description)]
        return [path for path in found if os.path.isfile(path)]

    @cached_property
    def bases(self) -> tuple[Base, ...]:
        """Each job with each robot, ready to be sent; every axis was tried on each."""
        if not self.design.count:
            raise FileError(self.place, "the sweep is empty: it has no run")
        found = tuple(base_of(job) for job in self.jobs)
        for base in found:
            self._try_axes(base)
        return found

    def _try_axes(self, base: Base) -> None:
        """Refuse axes that do not fit a job, and those that change the same number."""
        first: list[Changes] = []
        for axis in self.axes:
            step = max(1, (len(axis.values) - 1) // (TRIED - 1))
            with blame(self.place):
                tried = [setting(base.job, axis, value) for value in axis.values[::step]]
            whole: Changes = {}
            for changes in tried:
                whole |= changes
            for other, known in zip(self.axes, first, strict=False):
                if overlap(known, whole):
                    sentence = f"axes '{other.key}' and '{axis.key}' change the same number"
                    raise FileError(self.place, sentence)
            first.append(whole)

    def runs(self, start: int = 0, stop: int | None = None) -> Iterator[SweepRun]:
        """Runs by their number, from `start` up to `stop`, made when they are asked for."""
        for number in range(start, len(self) if stop is None else stop):
            yield self.run(number)

    def key_groups(self) -> Iterator[list[bytes]]:
        """What the runs are known by, in groups of those that are looked up together."""
        for first in range(0, len(self), LOOKED_AT):
            yield [run.key for run in self.runs(first, min(first + LOOKED_AT, len(self)))]

    def run(self, number: int) -> SweepRun:
        """One run, by its number from 0."""
        which, place = divmod(number, self.design.count)
        base = self.bases[which]
        changes: Changes = {}
        for axis, value in zip(self.axes, self.design.point(place), strict=True):
            changes |= self._setting(which, axis, value)
        return SweepRun(number + 1, self._key(base, changes), which, changes)

    def point(self, number: int) -> tuple[float | str, ...]:
        """Values of the axes of a run, as they are written."""
        return self.design.point(number % self.design.count)

    def base(self, number: int) -> Base:
        """Job and robot of a run."""
        return self.bases[number // self.design.count]

    def inputs(self, number: int) -> Record:
        """Values of the axes of a run in SI, by key."""
        point = self.point(number)
        return {axis.key: axis.si(value) for axis, value in zip(self.axes, point, strict=True)}

    @cached_property
    def _settings(self) -> dict[tuple[int, str, float | str], Changes]:
        return {}

    def _setting(self, which: int, axis: SweepAxis, value: float | str) -> Changes:
        """What a value changes of a job; earlier results are cached."""
        key = (which, axis.key, value)
        known = self._settings.get(key)
        if known is None:
            with blame(self.place):
                known = setting(self.bases[which].job, axis, value)
            self._settings[key] = known
            if len(self._settings) > MOST_SETTINGS:
                del self._settings[next(iter(self._settings))]
        return known

    def _key(self, base: Base, changes: Changes) -> bytes:
        """A digest of all that a run depends on."""
        d = self.description
        parts = [stamped_version(), base.digest, d.method, str(d.band)]
        for place, value in sorted(changes.items(), key=lambda item: repr(item[0])):
            parts.append(f"{place!r} {value!r}")
        return hashlib.sha256("\n".join(parts).encode()).digest()[:KEY_BYTES]


def _plain(value: object) -> Any:
    """A value as a file has it, also where it comes as a number of numpy."""
    return value.item() if hasattr(value, "item") else value
