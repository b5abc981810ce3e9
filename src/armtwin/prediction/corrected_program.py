"""A changed program: the same file with other targets or speeds, read again and run on the twin."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.jobs.from_program import describe_stretch
from armtwin.jobs.job import Job, ProgramSource
from armtwin.maths.batch import Floats, TwoArrays
from armtwin.maths.rotations import pose
from armtwin.motion.shifted_motion import LEAST_SPACING, points_beside, space_by_curvature
from armtwin.prediction.correct import measure_size, size_of
from armtwin.prediction.correction import Corrected, Correction, WrittenProgram
from armtwin.prediction.path_error import closest
from armtwin.prediction.predict import Prediction, predict
from armtwin.programs.table import read_program
from armtwin.programs.writing import SAME_SPEED, Replacement, replace_speeds, replace_targets
from armtwin.simulation.closed_loop import setpoint_rate

MOST_POINTS = 140  # of the moves that are replaced
DEVIATION = 0.02  # of the set-points' peaks, that a spline through the points may deviate
CYCLES = 4  # of the controller between points at least
ROUNDS = 3  # of fitting the points so that the zones between them lead through what is wanted
LEARNING = 14  # of correcting the points on the twin
GAIN = 0.4
APART = 2e-4  # of places at which a path is looked at [m]


def correct_program(found: Correction, source: ProgramSource) -> WrittenProgram:
    """Write the program of a corrected job again with corrected targets.

    Args:
        found: The correction of the job.
        source: The program that the job is from.
    """
    job = _in_posture(found.prediction)
    places, owners = _choose_places(found, source)
    wanted = points_beside(job.seam, found.prediction.motion.command.s, found.best.shift, places)
    p = wanted.p.copy()
    for _ in range(ROUNDS):
        made = _read_again(source, _write(source, owners, p, wanted.R), job)
        p += wanted.p - _nearest(made, wanted.p)
    best: WrittenProgram | None = None
    gain = GAIN
    for _ in range(LEARNING):
        text = _write(source, owners, p, wanted.R)
        run = predict(_read_again(source, text, job), found.prediction.given)
        place, error = measure_beside(job, run)
        new = WrittenProgram(text, len(p), measure_size(job, place, error), run)
        if best is None or _ratio(new, found) < _ratio(best, found):
            best, best_p = new, p
            away = _mean_about(places, place, error)
        else:
            gain /= 2
        _, frames, _ = job.seam.frames(places)
        p = best_p - gain * np.einsum("mij,mj->mi", frames[:, :, 1:], away)
    assert best is not None
    return best


def _in_posture(p: Prediction) -> Job:
    """A predicted job with the posture that it began in."""
    posture = tuple(p.motion.trajectory.q[0].tolist())
    return Job(replace(p.job.description, posture=posture), p.job.origin)


def slow_program(changed: Job, source: ProgramSource, p: Prediction) -> WrittenProgram:
    """Write the program of a job again with the speeds that a changed job has.

    Args:
        changed: The job with other speeds of its segments, the same otherwise.
        source: The program that the job is from.
        p: The job as it was predicted.
    """
    steps = source.read.stretches[source.stretch]
    wanted: dict[int, float] = {}
    first = 1
    for segment, last in zip(changed.description.segment, _segments_of(source), strict=True):
        for step in steps[first : last + 1]:
            if segment.speed != step.speed and segment.speed and step.kind != "PTP":
                wanted[step.statement.start] = segment.speed
        first = last + 1
    text = replace_speeds(source.read, wanted)
    job = _read_again(source, text, _in_posture(p))
    for new, segment in zip(job.description.segment, changed.description.segment, strict=True):
        if new.speed is not None and abs(new.speed / (segment.speed or 0.0) - 1) > SAME_SPEED:
            raise FileError(source.read.path, f"line {new.line}: its speed cannot be changed alone")
    run = predict(job, p.given)
    return WrittenProgram(text, 0, size_of(job, run.path_error), run)


def _ratio(written: WrittenProgram, found: Correction) -> float:
    """Largest ratio of its peaks to those of the set-points."""
    return Corrected(written.prediction, written.size).growth(found.best)


def _mean_about(places: Floats, at: Floats, error: Floats) -> Floats:
    """Mean error (m, 2) about places, between the middles of the gaps beside each, (k, 2)."""
    middles = (places[:-1] + places[1:]) / 2
    which = np.searchsorted(middles, at)
    near = np.abs(at - places[which]) < 2 * LEAST_SPACING
    found = np.zeros((len(places), 2))
    count = np.bincount(which[near], minlength=len(places))
    for k in range(2):
        total = np.bincount(which[near], error[near, k], minlength=len(places))
        found[:, k] = total / np.maximum(count, 1)
    return found


def _segments_of(source: ProgramSource) -> list[int]:
    """Number of the step that ends each segment of the job; steps of a spline have one segment."""
    steps = source.read.stretches[source.stretch]
    found: list[int] = []
    for k, step in enumerate(steps[1:], 1):
        if step.joined and found:
            found[-1] = k
        else:
            found.append(k)
    return found


def _is_one_spline(source: ProgramSource, owners: list[int]) -> bool:
    """Whether moves can be one spline block: KRL, lines and arcs from stop to stop, alike in speed.

    Nothing but comments may lie between them, for a block takes no other statements.
    """
    read = source.read
    steps = read.stretches[source.stretch]
    moves = [steps[k] for k in dict.fromkeys(owners)]
    if read.format.name != "krl" or len(moves) < 2 or owners[0] == 0:
        return False
    if steps[owners[0] - 1].zone > 0 or moves[-1].zone > 0 or moves[-1].joined:
        return False
    if any(x.kind not in ("LIN", "CIRC") or x.speed != moves[0].speed for x in moves):
        return False
    for before, step in pairwise(moves):
        between = read.text[
            before.statement.start + len(before.statement.text) : step.statement.start
        ]
        if any(x.strip() and x.strip()[0] != ";" for x in between.splitlines()):
            return False
    return all(x.zone > 0 for x in moves[:-1])


def _choose_places(found: Correction, source: ProgramSource) -> tuple[Floats, list[int]]:
    """Arc lengths of the points, and the step that each belongs to."""
    p = found.prediction
    job, seam = p.job, p.job.seam
    judged = job.process_on()
    cycle = 1 / setpoint_rate(p.robot, job.description.model)
    least = max(LEAST_SPACING, CYCLES * cycle * job.description.speed)
    total = sum(stop - start for start, stop in judged)
    size = found.best.size
    for part in (DEVIATION, 3 * DEVIATION, 9 * DEVIATION, 27 * DEVIATION):
        deviation = part * min(size.lateral, size.vertical)
        dense = space_by_curvature(seam, p.motion.command.s, found.best.shift, deviation)
        if sum(((dense > start) & (dense < stop)).sum() for start, stop in judged) < MOST_POINTS:
            break
    least = max(least, total / MOST_POINTS)
    ends = _segments_of(source)
    whole = [(x.start, x.stop, ends[x.move]) for x in seam.path.stretches]
    if len(found.program) <= MOST_POINTS and _is_one_spline(source, [x[2] for x in whole]):
        places = found.program.places[1:]
        stops = [stop for _, stop, _ in whole[:-1]]
        return places, [whole[k][2] for k in np.searchsorted(stops, places)]
    done = -1.0
    chosen: list[float] = []
    owners: list[int] = []
    for stretch in seam.path.stretches:
        middle = (stretch.start + stretch.stop) / 2
        if not any(start <= middle <= stop for start, stop in judged):
            continue
        if stretch.start - done > 1e-9:  # where a seam begins
            chosen.append(stretch.start)
            owners.append(ends[stretch.move] - 1)
        done = stretch.stop
        inside = dense[(dense > stretch.start + least) & (dense < stretch.stop - least)].tolist()
        for place in (*inside, stretch.stop):
            if place - chosen[-1] >= least - 1e-9 or place == stretch.stop:
                chosen.append(place)
                owners.append(ends[stretch.move])
    if not chosen:
        raise ArmtwinError(f"{job.where}: nothing of it is judged, so nothing is corrected")
    return np.array(chosen), owners


def _write(source: ProgramSource, owners: list[int], p: Floats, R: Floats) -> str:
    """The text of the program with points in the place of targets."""
    steps = source.read.stretches[source.stretch]
    changes = []
    for owner in dict.fromkeys(owners):
        own = [k for k, x in enumerate(owners) if x == owner]
        poses = np.array([pose(R[k], p[k]) for k in own])
        step = steps[owner]
        if step.spot.X is None:  # a joint target stays: the tool goes on from there
            continue
        after_stop = owner > 0 and steps[owner - 1].zone == 0
        is_whole = after_stop and step.zone == 0 and step.kind != "SPLINE"
        changes.append(Replacement(step, poses, "whole" if is_whole else ""))
    if _is_one_spline(source, owners):
        ends = [changes[0]._replace(spline="first"), changes[-1]._replace(spline="last")]
        inside = [x._replace(spline="inside") for x in changes[1:-1]]
        changes = [ends[0], *inside, ends[1]]
    return replace_targets(source.read, changes)


def _read_again(source: ProgramSource, text: str, job: Job) -> Job:
    """The job of a written program, on the robot and with the settings of the original.

    It begins in the same posture: a wrist that is turned over runs another motion.
    """
    read = read_program(source.read.path, source.given, source.robot, text)
    own = describe_stretch(read, source.stretch, source.robot, job.description.tolerance)
    d = job.description
    kept = replace(own, robot=d.robot, tool=d.tool, model=d.model, time_law=d.time_law)
    # lines of a side file that say where the process is on are those of the original
    led = [x.ptp is None and x.joints is None for x in own.segment]
    if len(led) == len(d.segment):
        led = [x.process for x in d.segment]
    judged = [replace(x, process=on) for x, on in zip(own.segment, led, strict=True)]
    kept = replace(kept, posture=d.posture, segment=tuple(judged))
    return Job(kept, job.origin)


def _nearest(job: Job, p: Floats) -> Floats:
    """Points of a job's path nearest to points (k, 3), which follow each other along it."""
    seam = job.seam
    s = np.linspace(0.0, seam.length, int(seam.length / APART) + 2)
    line = seam.path.at(s).p
    found = np.empty_like(p)
    at = 0
    for k, point in enumerate(p):
        near = np.linalg.norm(line[at : at + 2000] - point, axis=1)
        at += int(near.argmin())
        jet = seam.path.at(s[at : at + 1])
        way = float((point - jet.p[0]) @ jet.t[0])
        found[k] = jet.p[0] + way * jet.t[0]
    return found


def measure_beside(job: Job, run: Prediction) -> TwoArrays:
    """Where another job's run is beside the seam of a job: arc lengths, and errors (m, 2)."""
    seam, own = job.seam, run.job.seam
    tips = run.run.built.forward_kinematics(run.run.bodies)[:, :3, 3]
    s, _, _ = own.command(run.run.trace_time)
    place = closest(seam, tips, s * seam.length / own.length)
    jet, frames, _ = seam.frames(place)
    return place, np.einsum("mi,mij->mj", tips - jet.p, frames[:, :, 1:])
