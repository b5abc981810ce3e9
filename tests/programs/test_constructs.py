"""Each construct that robot programs are made of, read as its controller's manual says."""

import time

import numpy as np
import pytest

import armtwin as at
from armtwin.programs.table import read_program

UP = "[0,0,1,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]"
RAPID = "MODULE m\nCONST robtarget a:=[[100,0,0],%s];\nCONST robtarget b:=[[100,50,0],%s];\n"
RAPID = RAPID % (UP, UP) + "VAR triggdata gun;\nVAR welddata w;\nVAR seamdata s;\nPROC main()\n"
KRL = "DEF m ( )\n$BASE=$NULLFRAME\n$TOOL=$NULLFRAME\n$VEL.CP=0.1\n$APO.CDIS=4\nBAS(#VEL_PTP,20)\n"
KRL += "PTP {X 0,Y 0,Z 0,A 0,B 0,C 180}\n"
LS = "/PROG M\n/MN\n  1: UFRAME_NUM=0 ;\n  2: UTOOL_NUM=0 ;\n  3:J P[1] 50% FINE ;\n"
POS = "".join(
    f"P[{k}]{{\n GP1:\n UF : 0, UT : 0, CONFIG : 'N U T, 0, 0, 0',\n X = {x} mm, Y = {y} mm, "
    "Z = 0.0 mm,\n W = 180.0 deg, P = 0.0 deg, R = 0.0 deg\n};\n"
    for k, (x, y) in enumerate(((0, 0), (100, 0), (100, 50)), 1)
)
UR = "def m():\n  set_tcp(p[0,0,0,0,0,0])\n  movel(p[0,0,0,3.14159265,0,0], v=0.1)\n"
GCODE = "G21 G90 G17\nG0 X0 Y0 Z0\n"

# ending, what a program has after its first move, and kind, end [mm], speed [m/s] and zone [mm] of
# the move that it means
MOVES = {
    "MoveL": (".mod", "MoveL a,v100,z5,tool0;", "LIN", (100, 0), 0.1, 5),
    "MoveJ": (".mod", "MoveJ b,v100,z10,tool0;", "PTP", (100, 50), None, 10),
    "MoveC": (
        ".mod",
        "MoveL a,v50,fine,tool0;\nMoveC Offs(a,20,20,0),b,v50,fine,tool0;",
        "CIRC",
        (100, 50),
        0.05,
        0,
    ),
    "ArcL": (
        ".mod",
        "ArcLStart a,v100,s,w,z5,tool0;\nArcL b,v20,s,w,z1,tool0;",
        "LIN",
        (100, 50),
        0.02,
        1,
    ),
    "ArcC": (
        ".mod",
        "ArcLStart a,v100,s,w,fine,tool0;\nArcC Offs(a,20,20,0),b,v20,s,w,z1,tool0;",
        "CIRC",
        (100, 50),
        0.02,
        1,
    ),
    "TriggL": (".mod", "TriggL a,v100,gun,z5,tool0;", "LIN", (100, 0), 0.1, 5),
    "Offs": (".mod", "MoveL Offs(a,0,7,0),v100,z5,tool0;", "LIN", (100, 7), 0.1, 5),
    "RelTool": (".mod", "MoveL RelTool(a,3,0,0),v100,z5,tool0;", "LIN", (97, 0), 0.1, 5),
    "\\V": (".mod", "MoveL a,v100\\V:=30,z5,tool0;", "LIN", (100, 0), 0.03, 5),
    "LIN": (".src", "LIN {X 100,Y 0,Z 0,A 0,B 0,C 180} C_DIS", "LIN", (100, 0), 0.1, 4),
    "C_VEL": (".src", "LIN {X 100,Y 0,Z 0,A 0,B 0,C 180} C_VEL", "LIN", (100, 0), 0.1, 0),
    "C_ORI": (".src", "LIN {X 100,Y 0,Z 0,A 0,B 0,C 180} C_ORI", "LIN", (100, 0), 0.1, 0),
    "C_PTP": (".src", "PTP {X 100,Y 0,Z 0,A 0,B 0,C 180} C_PTP", "PTP", (100, 0), 0.2, 0),
    "SLIN": (
        ".src",
        "SLIN {X 100,Y 0,Z 0,A 0,B 0,C 180} WITH $VEL.CP=0.03",
        "LIN",
        (100, 0),
        0.03,
        0,
    ),
    "CIRC": (
        ".src",
        "CIRC {X 50,Y 30,Z 0},{X 100,Y 0,Z 0,A 0,B 0,C 180}",
        "CIRC",
        (100, 0),
        0.1,
        0,
    ),
    "SCIRC": (
        ".src",
        "SCIRC {X 50,Y 30,Z 0},{X 100,Y 0,Z 0,A 0,B 0,C 180} C_SPL",
        "CIRC",
        (100, 0),
        0.1,
        4,
    ),
    "CA": (
        ".src",
        "CIRC {X 50,Y 50,Z 0},{X 100,Y 0,Z 0,A 0,B 0,C 180},CA 90",
        "CIRC",
        (50, 50),
        0.1,
        0,
    ),
    "LIN_REL": (".src", "LIN_REL {Y 30}", "LIN", (0, 30), 0.1, 0),
    "PTP_REL": (".src", "PTP_REL {X 12}", "PTP", (12, 0), 0.2, 0),
    "SPTP": (".src", "SPTP {X 100,Y 0,Z 0,A 0,B 0,C 180}", "PTP", (100, 0), 0.2, 0),
    "SPL": (
        ".src",
        "SPLINE\nSPL {X 50,Y 9,Z 0}\nSPL {X 100,Y 0,Z 0,A 0,B 0,C 180}\nENDSPLINE",
        "SPLINE",
        (100, 0),
        0.1,
        0,
    ),
    "L": (".ls", "L P[2] 100mm/sec FINE ;", "LIN", (100, 0), 0.1, 0),
    "J": (".ls", "J P[2] 20% FINE ;", "PTP", (100, 0), 0.2, 0),
    "C": (".ls", "C P[2]\n   :  P[3] 50mm/sec FINE ;", "CIRC", (100, 50), 0.05, 0),
    "CR": (".ls", "L P[2] 60cm/min CR5 ;", "LIN", (100, 0), 0.01, 5),
    "inch/min": (".ls", "L P[2] 60.0inch/min FINE ACC80 ;", "LIN", (100, 0), 0.0254, 0),
    "mm/sek": (".ls", "L P[2] 40mm/sek FEIN ;", "LIN", (100, 0), 0.04, 0),
    "deg/sec": (".ls", "J P[2] 20deg/sec FINE ;", "PTP", (100, 0), None, 0),
    "CNT": (".ls", "L P[2] 100mm/sec CNT0 ;", "LIN", (100, 0), 0.1, 0),
    "Arc Start": (
        ".ls",
        "Arc Start[1] ;\n  5:L P[2] 100mm/sec FINE ;\n  6:Arc End[1] ;",
        "LIN",
        (100, 0),
        0.1,
        0,
    ),
    "movel": (
        ".script",
        "movel(p[0.1,0,0,3.14159265,0,0], a=1.2, v=0.05, r=0.003)",
        "LIN",
        (100, 0),
        0.05,
        3,
    ),
    "movep": (
        ".script",
        "movep(p[0.1,0,0,3.14159265,0,0], v=0.05, r=0.003)",
        "LIN",
        (100, 0),
        0.05,
        3,
    ),
    "movej": (
        ".script",
        "movej(p[0.1,0,0,3.14159265,0,0], a=1.4, v=1.05)",
        "PTP",
        (100, 0),
        None,
        0,
    ),
    "movec": (
        ".script",
        "movec(p[0.05,0.03,0,3.14159265,0,0], p[0.1,0,0,3.14159265,0,0], v=0.05)",
        "CIRC",
        (100, 0),
        0.05,
        0,
    ),
    "t": (".script", "movel(p[0.1,0,0,3.14159265,0,0], t=2)", "LIN", (100, 0), 0.05, 0),
    "pose_trans": (
        ".script",
        "movel(pose_trans(p[0.05,0,0,0,0,0], p[0.05,0,0,3.14159265,0,0]), v=0.1)",
        "LIN",
        (100, 0),
        0.1,
        0,
    ),
    "G1": (".nc", "G1 X100 F600", "LIN", (100, 0), 0.01, 0.1),
    "G2 I J": (".nc", "G2 X100 Y0 I50 J0 F600", "CIRC", (100, 0), 0.01, 0.1),
    "G3 R": (".nc", "G3 X100 Y0 R80 F600", "CIRC", (100, 0), 0.01, 0.1),
    "G18": (".nc", "G18\nG2 X100 Z0 I50 K0 F600", "CIRC", (100, 0), 0.01, 0.1),
    "G20": (".nc", "G20 G1 X1 F10", "LIN", (25.4, 0), 10 * 0.0254 / 60, 0.1),
    "G91": (".nc", "G91\nG1 X60 F600\nG1 X40", "LIN", (100, 0), 0.01, 0.1),
    "M": (".nc", "M8\nG1 X100 F600\nM9", "LIN", (100, 0), 0.01, 0.1),
}
ENDS = {
    ".mod": (RAPID + "MoveJ [[0,0,0]," + UP + "],v100,fine,tool0;\n", "\nENDPROC\nENDMODULE\n"),
    ".src": (KRL, "\nEND\n"),
    ".ls": (LS + "  4:", "\n/POS\n" + POS + "/END\n"),
    ".script": (UR, "\nend\nm()\n"),
    ".nc": (GCODE, "\nM30\n"),
}


@pytest.mark.parametrize("construct", MOVES)
def test_a_construct_means_the_move_of_its_manual(construct, tmp_path):
    ending, text, kind, end, speed, zone = MOVES[construct]
    path = tmp_path / f"m{ending}"
    path.write_text(text.join(ENDS[ending]))
    found = read_program(path)
    assert not [x for x in found.remarks if x.is_gap]
    step = found.stretches[0][-1]
    assert step.kind == kind
    assert step.spot.X[:2, 3] == pytest.approx(1e-3 * np.array(end), abs=1e-9)
    assert step.speed == (None if speed is None else pytest.approx(speed))
    assert step.zone == pytest.approx(1e-3 * zone)


# what is known at run time only, or moved by what is not simulated: named with its line
UNKNOWN = {
    "SearchL": (".mod", "SearchL di1,a,b,v100,tool0;"),
    "run-time target": (".mod", "MoveL CRobT(),v100,fine,tool0;"),
    "extax": (".mod", "MoveExtJ [[10,0,0,0,0,0]],v100,fine;"),
    "Weave": (".ls", "Weave Sine[1] ;"),
    "CALL": (".ls", "CALL ELSEWHERE ;"),
    "JMP": (".ls", "JMP LBL[9] ;"),
    "input": (".src", "LIN {X 100,Y $IN[3],Z 0}"),
    "interrupt": (".src", "UNHEARD(1)"),
    "servoj": (".script", "servoj([0,0,0,0,0,0], t=0.1)"),
    "sensor": (".script", "movel(get_actual_tcp_pose())"),
    "cutter": (".nc", "G41 D1"),
    "cycle": (".nc", "G81 X1 Y1 Z1 R1"),
}


@pytest.mark.parametrize("construct", UNKNOWN)
def test_what_only_the_controller_knows_is_named_with_its_line(construct, tmp_path):
    ending, text = UNKNOWN[construct]
    path = tmp_path / f"m{ending}"
    path.write_text(text.join(ENDS[ending]))
    lines = path.read_text().split("\n")
    (place,) = [k for k, line in enumerate(lines, 1) if text.split("\n")[0] in line]
    assert place in [x.line for x in read_program(path).remarks if x.is_gap]


ZERO = {
    ".mod": "MoveL a,v100\\V:=0,z5,tool0;",
    ".src": "$VEL.CP=0\nLIN {X 100,Y 0,Z 0,A 0,B 0,C 180}",
    ".ls": "L P[2] 0mm/sec FINE ;",
    ".script": "movel(p[0.1,0,0,3.14159265,0,0], v=0)",
    ".nc": "G1 X100 F0",
}


@pytest.mark.parametrize("ending", ZERO)
def test_a_feed_of_zero_is_named_with_its_line(ending, tmp_path):
    path = tmp_path / f"m{ending}"
    path.write_text(ZERO[ending].join(ENDS[ending]))
    lines = path.read_text().split("\n")
    (place,) = [k for k, line in enumerate(lines, 1) if ZERO[ending].split("\n")[-1] in line]
    try:
        said = [f"line {x.line}: {x.text}" for x in read_program(path).remarks if x.is_gap]
    except at.ArmtwinError as why:
        said = [str(why)]
    assert any(f"line {place}: " in x and "above 0" in x for x in said)


def test_folds_within_folds_hide_no_move(tmp_path):
    path = tmp_path / "m.src"
    move = "LIN {X 100,Y 0,Z 0,A 0,B 0,C 180}"
    folded = f";FOLD a;%{{PE}}\n;FOLD b\n ;FOLD c\n{move}\n ;ENDFOLD\n;ENDFOLD (b)\n;ENDFOLD"
    path.write_text(folded.join(ENDS[".src"]))
    found = read_program(path)
    assert not [x for x in found.remarks if x.is_gap]
    assert [(x.kind, x.line) for x in found.stretches[0]] == [("PTP", 7), ("LIN", 11)]


def test_arcs_through_points_of_a_line_are_named_with_their_line(tmp_path):
    path = tmp_path / "m.script"
    text = "movec(p[0.05,0,0,3.14159265,0,0], p[0.1,0,0,3.14159265,0,0], v=0.05)"
    path.write_text(text.join(ENDS[".script"]))
    robot = at.Robot.load("ur10e")
    with pytest.raises(at.ArmtwinError, match=r"line 4: CIRC .* must not lie on one line"):
        at.Job.from_program(path, robot, tolerance="1 mm").seam  # noqa: B018  planned when asked


def test_a_program_of_10_mb_is_read_in_seconds(tmp_path):
    """Bounded by its moves and its letters: 20 000 moves with long comments."""
    path = tmp_path / "m.nc"
    note = "; " + "x" * 500
    rows = [f"G1 X{k % 100} Y{k % 7} F600 {note}" for k in range(20_000)]
    path.write_text("\n".join(rows).join(ENDS[".nc"]))
    assert path.stat().st_size > 1e7
    begun = time.process_time()
    assert read_program(path).moves == 20_001
    assert time.process_time() - begun < 10.0
