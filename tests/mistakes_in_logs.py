"""Mistakes that people make in logs: each spoils a good log in one way; what must be asked.

A log is spoilt as a person would spoil it, in its columns; nothing here knows how it is checked.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import armtwin as at


@dataclass(frozen=True)
class Mistake:
    """A mistake in a log.

    Attributes:
        name: What it is.
        spoil: From a log, the channel of its torque and its robot to the spoilt log.
        asked: Words that the refusal must have.
    """

    name: str
    spoil: Callable[[at.Log, str, at.Robot], at.Log]
    asked: str


def _with(log, **channels):
    return replace(log, channels={**log.channels, **channels})


def _scaled(factor):
    return lambda log, source, robot: _with(log, **{source: factor * log.channels[source]})


def _turned(j, position=True, torque=True):
    def spoil(log, source, robot):
        sign = np.ones(robot.n)
        sign[j] = -1
        changed = {}
        if position:
            changed["q"] = sign * log.q
        if torque:
            changed[source] = sign * log.channels[source]
        return _with(log, **changed)

    return spoil


def _zero(j, degrees):
    def spoil(log, source, robot):
        offset = np.zeros(robot.n)
        offset[j] = np.radians(degrees)
        return _with(log, q=log.q + offset)

    return spoil


def _swapped(i, k, *, position, torque):
    def spoil(log, source, robot):
        order = np.arange(robot.n)
        order[[i, k]] = k, i
        changed = {}
        if position:
            changed["q"] = log.q[:, order]
        if torque:
            changed[source] = log.channels[source][:, order]
        return _with(log, **changed)

    return spoil


def _late(seconds):
    def spoil(log, source, robot):
        time, tau = log.time, log.channels[source]
        moved = [np.interp(time - seconds, time, column) for column in tau.T]
        return _with(log, **{source: np.stack(moved, axis=1)})

    return spoil


def _clipped(share):
    def spoil(log, source, robot):
        tau = log.channels[source]
        most = share * np.abs(tau).max(axis=0)
        return _with(log, **{source: tau.clip(-most, most)})

    return spoil


def _in_time(factor):
    return lambda log, source, robot: replace(log, time=factor * log.time)


def _angles(factor):
    return lambda log, source, robot: _with(log, q=factor * log.q)


def _without_weight(log, source, robot):
    return _with(log, **{source: log.channels[source] - robot.gravity(log.q)})


def _unsigned(log, source, robot):
    return _with(log, **{source: np.abs(log.channels[source])})


def _copied(channel):
    def spoil(log, source, robot):
        name = channel or source
        values = log.channels[name].copy()
        values[:, 2] = values[:, 1]
        return _with(log, **{name: values})

    return spoil


def _in_percent(log, source, robot):
    return _with(log, **{source: 100 * log.channels[source] / robot.limits.torque})


def _at_motors(log, source, robot):
    inverse = np.linalg.inv(robot.assembly.motor_rows)
    return _with(log, **{source: log.channels[source] @ inverse})


def _one_joint(j, factor):
    def spoil(log, source, robot):
        gain = np.ones(robot.n)
        gain[j] = factor
        return _with(log, **{source: gain * log.channels[source]})

    return spoil


MISTAKES = (
    Mistake("torque in kN m", _scaled(1e-3), "Is the torque in kN m"),
    Mistake("torque 50 times too small", _scaled(0.02), "the torque"),
    Mistake("torque in N mm", _scaled(1e3), "Is the torque in N mm"),
    Mistake("torque in N cm", _scaled(1e2), "Is the torque in N cm"),
    Mistake("torque of the other sign", _scaled(-1), "Are the torques of all joints"),
    Mistake("joint 2 counted the other way", _turned(1), "count the other way"),
    Mistake("joint 3 counted the other way", _turned(2), "count the other way"),
    Mistake("position 2 the other way", _turned(1, torque=False), "count the other way, and not"),
    Mistake("torque 2 reversed", _turned(1, position=False), "torque reversed"),
    Mistake("torque 3 reversed", _turned(2, position=False), "torque reversed"),
    Mistake("zero of 2 by 90", _zero(1, 90), "off by 90°"),
    Mistake("zero of 2 by -90", _zero(1, -90), "off by 90°"),
    Mistake("zero of 2 by 180", _zero(1, 180), "off by 180°"),
    Mistake("zero of 3 by 90", _zero(2, 90), "off by 90°"),
    Mistake("zero of 3 by -90", _zero(2, -90), "off by 90°"),
    Mistake("torques of 2 and 3 swapped", _swapped(1, 2, position=False, torque=True), "swapped"),
    Mistake("positions of 1 and 2 swapped", _swapped(0, 1, position=True, torque=False), "swapped"),
    Mistake("joints 2 and 3 swapped", _swapped(1, 2, position=True, torque=True), "swapped"),
    Mistake("torque 20 ms late", _late(0.02), "ms later than the positions"),
    Mistake("torque 30 ms late", _late(0.03), "ms later than the positions"),
    Mistake("torque 50 ms late", _late(0.05), "ms later than the positions"),
    Mistake("torque 100 ms late", _late(0.1), "ms later than the positions"),
    Mistake("torque clipped", _clipped(0.6), "cut off"),
    Mistake("time ten times too fast", _in_time(0.1), "time"),
    Mistake("torque in percent of the limit", _in_percent, "percentage of each joint's limit"),
    Mistake("torque of the motors", _at_motors, "torque"),
    Mistake("torque 2 ten times too large", _one_joint(1, 10.0), "in another unit"),
    Mistake("torque in ozf in", _scaled(141.6), "Is the torque in"),
    Mistake("torque in lbf ft", _scaled(0.7376), "in lbf ft"),
    Mistake("positions in revolutions", _angles(0.5 / np.pi), "in revolutions"),
    Mistake("radians made twice", _angles(np.pi / 180), "turned into radians twice"),
    Mistake("torque without weight", _without_weight, "weight of the arm taken off"),
    Mistake("absolute torques", _unsigned, "lose their sign"),
    Mistake("torque 2 in the column of 3", _copied(""), "column of torques copied"),
    Mistake("position 2 in the column of 3", _copied("q"), "column of positions copied"),
    Mistake("root mean square for peak", _scaled(np.sqrt(0.5)), "root mean square"),
)
