"""Robots as the command line names them, with what they carry."""

from __future__ import annotations

from pathlib import Path

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.robot.schema.mounting import gravity_of, read_gravity


def mounted(robot: str | Path, tool: str | None, payload: str | None) -> at.Robot:
    """A robot with a tool and a payload of its file."""
    return carrying(at.Robot.load(robot), tool, payload)


def carrying(robot: at.Robot, tool: str | None, payload: str | None) -> at.Robot:
    """A robot with another tool or payload where one is asked for; "" takes it off."""
    if tool is not None:
        robot = robot.with_tool(tool or None)
    if payload is not None:
        robot = robot.with_payload(payload or None)
    return robot


def on_base(robot: at.Robot, gravity: str | None, mounting: str | None, command: str) -> at.Robot:
    """A robot mounted as a command is told, else as its file says."""
    if gravity is not None and mounting is not None:
        raise ArmtwinError("--gravity and --mounting say the same; give one of them")
    source = f"measured: as given to {command}"
    try:
        if gravity is not None:
            return robot.with_gravity(read_gravity(gravity), source)
        if mounting is not None:
            return robot.with_gravity(gravity_of(mounting), source)
    except ArmtwinError as error:
        raise ArmtwinError(f"--{error}") from None
    return robot
