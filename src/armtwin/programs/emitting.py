"""Programs of moves: whole files in the dialects that have straight moves and arcs."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import to_quaternion, to_rpy
from armtwin.motion.moves import ProgramMove

UNUSED = "[9E9,9E9,9E9,9E9,9E9,9E9]"


def join_numbers(values: Sequence[float] | Floats, digits: int = 5) -> str:
    """Numbers with digits after the point, separated by commas."""
    return ",".join(f"{round(float(x), digits) + 0.0:.{digits}f}" for x in values)


def krl_frame(X: Floats) -> str:
    """A frame in KRL."""
    c, b, a = np.degrees(to_rpy(X[:3, :3]))
    words = zip("XYZABC", (*(1e3 * X[:3, 3]), a, b, c), strict=True)
    return "{" + ",".join(f"{key} {round(x, 5) + 0.0:.5f}" for key, x in words) + "}"


def _krl(name: str, tool: Floats, moves: Sequence[ProgramMove]) -> Iterator[str]:
    yield from (f"DEF {name} ( )", "BAS (#INITMOV,0 )", f"TOOL_DATA[1]={krl_frame(tool)}")
    yield from ("$BASE=$NULLFRAME", "$TOOL=TOOL_DATA[1]")
    for k, m in enumerate(moves):
        fly = " C_DIS" if m.zone else ""
        if m.kind != "PTP":
            yield f"$VEL.CP={m.speed or 2.0:.9g}"
        elif m.speed is not None:
            yield f"BAS (#VEL_PTP,{100 * m.speed:.9g})"
        if m.zone:
            yield f"$APO.CDIS={1e3 * m.zone:.9g}"
        if m.kind == "SPLINE":
            if not m.joined:
                yield "SPLINE"
            yield f"  SPL {krl_frame(m.pose)}"  # type: ignore[arg-type]
            if k + 1 == len(moves) or not moves[k + 1].joined:
                yield "ENDSPLINE"
        elif m.joints is not None:
            axes = zip(range(1, 7), np.degrees(m.joints), strict=True)
            yield "PTP {" + ",".join(f"A{i} {x:.6f}" for i, x in axes) + "}"
        else:
            via = "" if m.via is None else f"{krl_frame(m.via)},"
            yield f"{m.kind} {via}{krl_frame(m.pose)}{fly}"  # type: ignore[arg-type]
        if m.wait:
            yield f"WAIT SEC {m.wait:g}"
    yield "END"


def _rapid_pose(X: Floats) -> str:
    return f"[{join_numbers(1e3 * X[:3, 3])}],[{join_numbers(to_quaternion(X[:3, :3]), 10)}]"


def _rapid(name: str, tool: Floats, moves: Sequence[ProgramMove]) -> Iterator[str]:
    yield f"MODULE {name}"
    yield f"PERS tooldata tJob:=[TRUE,[{_rapid_pose(tool)}],[1,[0,0,1],[1,0,0,0],0,0,0]];"
    yield "PROC main()"
    for m in moves:
        speed = (
            "vmax" if m.speed is None or m.kind == "PTP" else f"[{1e3 * m.speed:.9g},500,5000,1000]"
        )
        zone = f"[FALSE,{1e3 * m.zone:.9g},0,0,0,0,0]" if m.zone else "fine"
        if m.joints is not None:
            yield f"MoveAbsJ [[{join_numbers(np.degrees(m.joints))}],{UNUSED}],{speed},{zone},tJob;"
        else:
            word = {"PTP": "MoveJ", "LIN": "MoveL", "CIRC": "MoveC"}[m.kind]
            poses = [m.via, m.pose] if m.via is not None else [m.pose]
            targets = ",".join(
                f"[{_rapid_pose(X)},[0,0,0,0],{UNUSED}]" for X in poses if X is not None
            )
            yield f"{word} {targets},{speed},{zone},tJob;"
        if m.wait:
            yield f"WaitTime {m.wait:g};"
    yield from ("ENDPROC", "ENDMODULE")


def _urscript(name: str, tool: Floats, moves: Sequence[ProgramMove]) -> Iterator[str]:
    from scipy.spatial.transform import Rotation

    def pose(X: Floats) -> str:
        return f"p[{join_numbers([*X[:3, 3], *Rotation.from_matrix(X[:3, :3]).as_rotvec()], 9)}]"

    yield from (f"def {name}():", f"  set_tcp({pose(tool)})")
    for m in moves:
        words = [] if m.kind == "PTP" else [f"v={m.speed or 1.0:.9g}"]
        words += [f"r={m.zone:.9g}"] if m.zone and m.kind != "PTP" else []
        poses = [] if m.pose is None else [m.via, m.pose] if m.via is not None else [m.pose]
        targets = [pose(X) for X in poses if X is not None]
        if m.joints is not None:
            targets = [f"[{join_numbers(m.joints, 9)}]"]
        word = {"PTP": "movej", "LIN": "movel", "CIRC": "movec"}[m.kind]
        yield f"  {word}({', '.join([*targets, *words])})"
        if m.wait:
            yield f"  sleep({m.wait:g})"
    yield from ("end", f"{name}()")


def _ls(name: str, tool: Floats, moves: Sequence[ProgramMove]) -> Iterator[str]:
    yield from (
        f"/PROG  {name.upper()}",
        "/ATTR",
        "/MN",
        "   1:  UFRAME_NUM=0 ;",
        "   2:  UTOOL_NUM=1 ;",
    )
    positions: list[str] = []
    line = 2
    for m in moves:
        line += 1
        numbers = []
        for X in (m.via, m.pose):
            if X is not None:
                w, p, r = np.degrees(to_rpy(X[:3, :3]))
                words = zip("XYZWPR", (*(1e3 * X[:3, 3]), w, p, r), strict=True)
                body = ", ".join(f"{k} = {x:.5f} {'mm' if k in 'XYZ' else 'deg'}" for k, x in words)
                positions.append(f"   UF : 0, UT : 1, CONFIG : 'N U T, 0, 0, 0',\n   {body}")
                numbers.append(len(positions))
        if m.joints is not None:
            degrees = zip(range(1, 7), np.degrees(m.joints), strict=True)
            body = ", ".join(f"J{k} = {x:.6f} deg" for k, x in degrees)
            positions.append(f"   UF : 0, UT : 1,\n   {body}")
            numbers.append(len(positions))
        word = {"PTP": "J", "LIN": "L", "CIRC": "C"}[m.kind]
        speed = f"{1e3 * (m.speed or 2.0):.9g}mm/sec"
        if m.kind == "PTP":
            speed = f"{100 * (m.speed or 1.0):.9g}%"
        end = f"CR{1e3 * m.zone:.9g}" if m.zone else "FINE"
        yield f"{line:4d}:{word} {' '.join(f'P[{n}]' for n in numbers)} {speed} {end} ;"
        if m.wait:
            line += 1
            yield f"{line:4d}:  WAIT {m.wait:.2f}(sec) ;"
    yield "/POS"
    for number, position in enumerate(positions, 1):
        yield f"P[{number}]{{\n   GP1:\n{position}\n}};"
    yield "/END"


DIALECTS: dict[str, Callable[[str, Floats, Sequence[ProgramMove]], Iterator[str]]] = {
    "krl": _krl,
    "rapid": _rapid,
    "urscript": _urscript,
    "ls": _ls,
}


def write_program(name: str, dialect: str, tool: Floats, moves: Sequence[ProgramMove]) -> str:
    """A program of moves in the base frame; the first move says where it begins.

    Args:
        name: What it is called.
        dialect: One of `DIALECTS`.
        tool: Pose of the tool in the flange's frame, (4, 4).
        moves: The moves.
    """
    if dialect != "krl" and any(m.kind == "SPLINE" for m in moves):
        raise ArmtwinError(f"{dialect} has no splines: krl has")
    return "\n".join(DIALECTS[dialect](name, tool, moves)) + "\n"
