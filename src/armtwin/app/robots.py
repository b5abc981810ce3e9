"""Robots as the command line names them, with what they carry."""

from __future__ import annotations

from pathlib import Path

import armtwin as at


def mounted(robot: str | Path, tool: str | None, payload: str | None) -> at.Robot:
    """A robot with a tool and a payload of its file."""
    found = at.Robot.load(robot)
    if tool is not None:
        found = found.with_tool(tool or None)
    if payload is not None:
        found = found.with_payload(payload or None)
    return found
