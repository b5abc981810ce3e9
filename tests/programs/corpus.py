"""Robot programs for tests, written by styles of each dialect beside the moves that they mean.

A style gets targets in the robot's base frame and writes a program whose moves are those: bare
lists as off-line tools write them, and with names, arrays, loops and procedures as people do.
"""

# ruff: noqa: E501  lines of programs are long

from typing import NamedTuple

import numpy as np

from armtwin.maths.rotations import from_rpy, pose, to_quaternion, to_rpy

BASE = pose(from_rpy(0.02, -0.01, 0.3), (0.5, 0.05, 0.1))
TOOL = pose(from_rpy(0.0, 0.1, 0.0), (0.01, 0.0, 0.2))
EXTAX = "[9E+09,9E9,9E9,9E9,9E9,9E9]"


class Written(NamedTuple):
    """A program, its data file, and what it means: kind and pose of each move, None for joints."""

    ending: str
    text: str
    moves: list[tuple[str, np.ndarray | None]]
    data: str = ""
    side: str = ""


def draw_targets(seed: int, count: int = 7) -> list[np.ndarray]:
    """Poses in the base of the program, no three on a line."""
    random = np.random.default_rng(seed)
    X, found = np.eye(4), []
    for _ in range(count):
        step = random.uniform(0.01, 0.08, 3) * random.choice([-1, 1], 3)
        X = pose(from_rpy(np.pi, *random.uniform(-0.3, 0.3, 2)), X[:3, 3] + step)
        found.append(X)
    return found


def _numbers(values, digits=6):
    return ",".join(f"{x:.{digits}f}" for x in values)


def _rapid_pose(X):
    return f"[[{_numbers(1e3 * X[:3, 3])}],[{_numbers(to_quaternion(X[:3, :3]), 10)}]"


def _rapid_target(X):
    return f"{_rapid_pose(X)},[0,0,-1,1],{EXTAX}]"


RAPID_HEAD = f"""%%%
  VERSION:1
  LANGUAGE:ENGLISH
%%%
MODULE Seam(SYSMODULE)
  ! tool; MoveL nowhere
  TASK PERS tooldata tGun:=[TRUE,{_rapid_pose(TOOL)}],[1,[0,0,50],[1,0,0,0],0,0,0]];
  PERS wobjdata wPart:=[FALSE,TRUE,"",{_rapid_pose(BASE)}],[[0,0,0],[1,0,0,0]]];
  CONST jointtarget jHome:=[[0,-20,10,0,80,0],{EXTAX}];
  VAR speeddata vWeld:=[12,500,5000,1000];
"""


def rapid(style: int, targets: list) -> Written:
    """RAPID: inline, by names, by an array and a loop, by procedures."""
    moves = [("PTP", None), *(("LIN", X) for X in targets[:-2])]
    tail = f"  MoveC {_rapid_target(targets[-2])},{_rapid_target(targets[-1])},v50,fine,tGun\\WObj:=wPart;\n"
    moves.append(("CIRC", targets[-1]))
    start = "  MoveAbsJ jHome\\NoEOffs,v200,fine,tGun;\n"
    lines, head = [], RAPID_HEAD
    if style == 0:
        for k, X in enumerate(targets[:-2]):
            lines.append(
                f"  MoveL {_rapid_target(X)},v100\\V:={20 + k},z{(0, 1, 5)[k % 3]},tGun\\WObj:=wPart;\n"
            )
    elif style == 1:
        for k, X in enumerate(targets[:-2]):
            head += f"  CONST robtarget p{k}0:={_rapid_target(X)};\n"
            lines.append(f"  MoveL p{k}0 , vWeld , z5 ,\n     tGun\\WObj:=wPart; ! to p{k}0\n")
    elif style == 2:
        inner = ",\n    ".join(_rapid_target(X) for X in targets[:-2])
        head += f"  CONST robtarget path{{{len(targets) - 2}}}:=[{inner}];\n  VAR num n:=0;\n"
        lines = [
            "  n:=Dim(path,1);\n  FOR i FROM 1 TO n DO\n",
            "    movel path{i},v100,z1,tGun\\wobj:=wPart;\n  ENDFOR\n",
        ]
    else:
        first = targets[0]
        head += f"  PERS robtarget pRef:={_rapid_target(first)};\n"
        lines = ['  rSeam pRef\\fast;\n  TPWrite "MoveL; done";\n']
        body = ""
        moves = moves[:1]
        for k in range(3):
            shifted = first.copy()
            shifted[:3, 3] += (0.01 * k, 0.0, 0.005)
            moves.append(("LIN", shifted))
        moves.append(("LIN", first @ pose(from_rpy(0, 0, np.radians(10)), (0, 0, -0.02))))
        moves.append(("CIRC", targets[-1]))
        body = (
            "  LOCAL PROC rSeam(robtarget p\\switch fast)\n    VAR robtarget q;\n    q:=p;\n"
            "    q.trans.z:=q.trans.z+5;\n    FOR k FROM 0 TO 2 DO\n"
            "      MoveL Offs(q,10*k,0,0),v100,z5,tGun\\WObj:=wPart;\n    ENDFOR\n    Set doLaser;\n"
            "    MoveL RelTool(p,0,0,-20\\Rz:=10),v50,fine,tGun\\WObj:=wPart;\n    WaitTime 0.2;\n"
            "  ERROR\n    MoveL p,v5,fine,tool0;\n  ENDPROC\n"
        )
        text = f"{head}{body}PROC main()\n  ConfL\\Off;\n{start}{''.join(lines)}{tail}ENDPROC\nENDMODULE\n"
        return Written(".mod", text, moves)
    return Written(
        ".mod", f"{head}PROC main()\n{start}{''.join(lines)}{tail}ENDPROC\nENDMODULE\n", moves
    )


def _krl_frame(X, more=""):
    c, b, a = np.degrees(to_rpy(X[:3, :3]))
    words = zip("XYZABC", (*(1e3 * X[:3, 3]), a, b, c), strict=True)
    return "{" + ",".join(f"{k} {x:.7f}" for k, x in words) + more + "}"


def krl(style: int, targets: list) -> Written:
    """KRL: inline, by inline forms with a .dat, by arrays, by sub-programs."""
    frames = f"BASE_DATA[2]={_krl_frame(BASE)}\nTOOL_DATA[1]={{FRAME: {_krl_frame(TOOL)[1:]}\n"
    head = "&ACCESS RVP\n&REL 5\nDEF seam ( )\n;FOLD INI\n ;FOLD BASISTECH INI\nBAS (#INITMOV,0 )\n ;ENDFOLD\n;ENDFOLD (INI)\n"
    setting = f"{frames}$BASE=BASE_DATA[2]\n$TOOL = TOOL_DATA[1]\n$VEL.CP=0.05\n$APO.CDIS=3\nBAS(#VEL_PTP,30)\n"
    home = "PTP {A1 0,A2 -90,A3 90,A4 0,A5 10,A6 0}\n"
    moves = [("PTP", None), *(("LIN", X) for X in targets[:-2]), ("CIRC", targets[-1])]
    tail = f"CIRC {_krl_frame(targets[-2])},{_krl_frame(targets[-1])}\nEND\n"
    if style == 0:
        rows = "".join(f"lin {_krl_frame(X)} c_dis ; x\n" for X in targets[:-2])
        return Written(".src", head + setting + home + rows + tail, moves)
    if style == 1:
        rows, data = (
            "",
            "DEFDAT SEAM PUBLIC\n;FOLD EXT;%{PE}\nEXT BAS(BAS_COMMAND :IN,REAL :IN)\n;ENDFOLD\n",
        )
        for k, X in enumerate(targets[:-2]):
            more = ",S 2,T 35,E1 0.0,E2 0.0"
            data += f"DECL E6POS XP{k}={_krl_frame(X, more)}\n"
            data += f'DECL FDAT FP{k}={{TOOL_NO 1,BASE_NO 2,IPO_FRAME #BASE,POINT2[] " ",TQ_STATE FALSE}}\n'
            data += f"DECL LDAT LCPDAT{k}={{VEL 2.0,ACC 100.0,APO_DIST 4.0,APO_FAC 50.0,ORI_TYP #VAR}}\n"
            rows += f";FOLD LIN P{k} CONT Vel=0.05 m/s CPDAT{k} Tool[1] Base[2];%{{PE}}\n$BWDSTART=FALSE\n"
            rows += f"LDAT_ACT=LCPDAT{k}\nFDAT_ACT=FP{k}\nBAS(#CP_PARAMS,0.05)\nLIN XP{k} C_DIS C_DIS\n;ENDFOLD\n"
        return Written(".src", head + setting + home + rows + tail, moves, data + "ENDDAT\n")
    if style == 2:
        declared = f"DECL E6POS P[{len(targets)}]\nDECL INT i\n"
        given = "".join(f"P[{k}]={_krl_frame(X)}\n" for k, X in enumerate(targets[:-2], 1))
        loop = f"FOR i=1 TO {len(targets) - 2}\n  SLIN P[i] WITH $VEL.CP=0.1 C_SPL\nENDFOR\n"
        body = head + declared + given + setting + home + loop + "$OUT[3]=TRUE\n"
        return Written(".src", body + tail, moves)
    first = targets[0]
    moves = [("PTP", None), ("LIN", first)]
    up = first @ pose(np.eye(3), (0, 0, -0.03))
    moves += [("LIN", up), ("SPLINE", targets[1]), ("SPLINE", targets[2]), ("CIRC", targets[-1])]
    rows = f"WAIT SEC 0.5\ngoto_start({_krl_frame(first)})\nLIN_REL {{Z -30}} #TOOL\n"
    rows += f"SPLINE\n SPL {_krl_frame(targets[1])}\n SPL {_krl_frame(targets[2])}\nENDSPLINE\n"
    sub = "DEF goto_start(p:IN)\nDECL POS p\nIF $IN[7]==TRUE THEN\n $OUT[2]=FALSE\nENDIF\nLIN p\nEND\n"
    return Written(".src", head + setting + home + rows + tail + sub, moves)


def ls(style: int, targets: list) -> Written:
    """Fanuc LS: plain, with registers, joint positions and comments, with A moves, in inches."""
    positions, rows = [], ["  UFRAME_NUM=1 ;", "  UTOOL_NUM=1 ;"]

    def add(X, joints=None):
        number = len(positions) + 1
        w, p, r = (0, 0, 0) if X is None else np.degrees(to_rpy(X[:3, :3]))
        body = "\tJ1= 0.000 deg,\tJ2= -10.000 deg,\tJ3= 5.000 deg,\n\tJ4= 0.000 deg,\tJ5= -80.000 deg,\tJ6= 0.000 deg"
        if X is not None:
            x, y, z = 1e3 * X[:3, 3]
            body = f"\tX = {x:10.6f}  mm,\tY = {y:10.6f}  mm,\tZ = {z:10.6f}  mm,\n\tW = {w:10.6f} deg,\tP = {p:10.6f} deg,\tR = {r:10.6f} deg"
        config = "" if X is None else "\t\tCONFIG : 'N U T, 0, 0, 0',"
        positions.append(
            f'P[{number}:"pt {number}"]{{\n   GP1:\n\tUF : 1, UT : 1,{config}\n{body}\n}};'
        )
        return number

    rows.append(f"J P[{add(None)}:home] 50% FINE    ;")
    moves = [("PTP", None)]
    speeds = ("100mm/sec", "R[4:speed]mm/sec", "30cm/min", "12.5inch/min")
    if style == 1:
        rows.append("  R[4:speed]=20+5*2 ;")
    for k, X in enumerate(targets[:-2]):
        end = ("CNT50", "FINE", "CR5", "CNT100 ACC80")[(k + style) % 4]
        speed = speeds[style] if style != 3 else ("50mm/sek", speeds[3])[k % 2]
        rows.append(f"L P[{add(X)}:p {k}] {speed} {end}    ;")
        moves.append(("LIN", X))
    if style == 2:
        numbers = [add(X) for X in targets[-3:]]
        rows += [f"A P[{n}] 100mm/sec FINE    ;" for n in numbers]
        moves += [("LIN", targets[-3]), ("CIRC", targets[-1])]
    else:
        via, end = add(targets[-2]), add(targets[-1])
        rows.append(f"C P[{via}]    \n    :  P[{end}] 50mm/sec FINE    ;")
        moves.append(("CIRC", targets[-1]))
    rows += ["  !MOVE; done ;", "  WAIT    .50(sec) ;", "  DO[1:laser]=OFF ;"]
    body = "\n".join(f"{k:4d}:{row}" for k, row in enumerate(rows, 1))
    text = (
        f'/PROG  SEAM\n/ATTR\nOWNER\t\t= MNEDITOR;\nCOMMENT\t\t= "x";\n/APPL\n/MN\n{body}\n/POS\n'
        + "\n".join(positions)
        + "\n/END\n"
    )
    return Written(
        ".ls", text.replace("\n", "\r\n") if style % 2 else text, moves, side="UFRAME[1]"
    )


def _ur(X):
    from scipy.spatial.transform import Rotation

    return f"p[{_numbers([*X[:3, 3], *Rotation.from_matrix(X[:3, :3]).as_rotvec()], 9)}]"


def urscript(style: int, targets: list) -> Written:
    """URScript: inline, variables and features, a loop over a list, functions."""
    whole = [BASE @ X for X in targets]
    head = f"def seam():\n  set_tcp({_ur(TOOL)})\n  set_payload(1.2, [0,0,0.1])\n"
    home = "  movej([0.0,-1.57,1.57,-1.57,-1.57,0.0], a=1.4, v=1.05)\n"
    moves = [("PTP", None), *(("LIN", X) for X in whole[:-2]), ("CIRC", whole[-1])]
    tail = f"  movec({_ur(whole[-2])}, {_ur(whole[-1])}, a=1.2, v=0.05, r=0)\nend\nseam()\n"
    if style == 0:
        rows = "".join(f"  movel({_ur(X)}, 1.2, 0.1, 0, 0.002)\n" for X in whole[:-2])
    elif style == 1:
        rows = f"  global feature = {_ur(BASE)}\n  v_weld = 0.01*2\n"
        for k, X in enumerate(targets[:-2]):
            rows += f"  Waypoint_{k}_p = {_ur(X)} # taught\n  movel(pose_trans(feature, Waypoint_{k}_p),\n    a=1.2, v=v_weld, r=0.001)\n"
    elif style == 2:
        inner = ", ".join(_ur(X) for X in whole[:-2])
        rows = f"  path = [{inner}]\n  i = 0\n  while (i < length(path)):\n    movep(path[i], a=1.2, v=0.05, r=0.001)\n    i = i + 1\n  end\n"
    else:
        rows = "  if (get_standard_digital_in(2) == True):\n    set_standard_digital_out(1, False)\n  end\n"
        rows += "".join(f"  go_to({_ur(X)}, 0.05)\n  sleep(0.1)\n" for X in whole[:-2])
        head = (
            'def go_to(target, speed):\n  textmsg("movel(x)")\n  movel(target, v=speed)\nend\n'
            + head
        )
    return Written(".script", head + home + rows + tail, moves)


def gcode(style: int, targets: list) -> Written:
    """G-code: absolute, relative, inches, without spaces and with arcs; the tool straight down."""
    places = [np.round(X[:3, 3], 5) for X in targets]
    down = from_rpy(np.pi, 0, 0)
    scale = 0.0254 if style == 2 else 1e-3
    rows = [
        "%",
        "O1000 (SEAM)",
        "G21 G90 G17 G54 G40" if style != 2 else "G20G90G17",
        "G0 X0 Y0 Z0",
        "M3 S1000",
    ]
    moves = [("LIN", pose(down, (0, 0, 0)))]
    here = np.zeros(3)
    if style == 1:
        rows.append("G91")
    for k, p in enumerate(places):
        x, y, z = (p - here if style == 1 else p) / scale
        gap = "" if style == 3 else " "
        rows.append(
            f"N{10 * k}{gap}G1{gap}X{x:.7f}{gap}Y{y:.7f}{gap}Z{z:.7f}{gap}F{600 if style != 2 else 24} ; cut"
        )
        moves.append(("LIN", pose(down, p)))
        here = p
    if style != 1:
        x, y, _ = here / scale
        reach = 0.02 / scale
        rows.append(f"G2 X{x + 2 * reach:.7f} Y{y:.7f} I{reach:.7f} J0")
        moves.append(("CIRC", pose(down, here + np.array([0.04, 0, 0]))))
    rows += ["M5", "M30", "%"]
    return Written(
        (".nc", ".gcode", ".ngc", ".tap")[style], "\n".join(rows) + "\n", moves, side="G54"
    )


DIALECTS = {"rapid": rapid, "krl": krl, "ls": ls, "urscript": urscript, "gcode": gcode}


def side_file(written: Written) -> str:
    """What the program does not have: its base, where the dialect has no values for it."""
    if not written.side:
        return "format = 1\n"
    R, p = BASE[:3, :3].tolist(), BASE[:3, 3].tolist()
    return (
        f'format = 1\n[base."{written.side}"]\nposition = {p}\norientation = {{ matrix = {R} }}\n'
    )


def in_base(written: Written, X: np.ndarray) -> np.ndarray:
    """A target in the robot's base frame."""
    return X if written.ending == ".script" else BASE @ X
