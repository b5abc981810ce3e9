"""Readers of robot programs: what they know is right, and what they do not know is said."""

import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.programs.table import find_format, read_program, read_side_file
from armtwin.programs.writing import Replacement, replace_targets
from tests.programs.corpus import DIALECTS, TOOL, Written, draw_targets, in_base, side_file

SEEDS = (1, 2, 3)
STYLES = range(4)
CASES = [(name, style, seed) for name in DIALECTS for style in STYLES for seed in SEEDS]


def write(folder: Path, written: Written) -> tuple[Path, Path]:
    """The files of a program and of what it lacks."""
    path = folder / f"seam{written.ending}"
    path.write_bytes(written.text.encode())
    (folder / "seam.dat").write_text(written.data)
    if not written.data:
        (folder / "seam.dat").unlink()
    side = folder / "side.toml"
    side.write_text(side_file(written))
    return path, side


def read(folder: Path, written: Written):
    path, side = write(folder, written)
    return read_program(path, read_side_file(side))


def test_the_corpus_of_60_programs_is_read_move_by_move(tmp_path):
    """Kinds and poses as the generator means them; a third and more are written as people do."""
    assert len(CASES) >= 60
    known = wanted = 0
    for name, style, seed in CASES:
        written = DIALECTS[name](style, draw_targets(seed))
        found = read(tmp_path, written)
        assert found.format.name == name
        steps = [step for stretch in found.stretches for step in stretch]
        wanted += len(written.moves)
        for step, (kind, X) in zip(steps, written.moves, strict=False):
            assert step.kind == kind, (name, style, step.line)
            if X is not None:
                apart = np.abs(step.base.X @ step.spot.X - in_base(written, X)).max()
                assert apart < 1e-6, (name, style, step.line)
            known += 1
        assert len(steps) <= len(written.moves)
        if name in {"rapid", "krl", "urscript"}:
            assert np.abs(steps[0].tool.X - TOOL).max() < 1e-8
    assert known >= 0.97 * wanted


UNKNOWN = {
    "rapid": (
        "SearchL di1,pX,pY,v10,tGun;",
        "MoveL CRobT(),v10,fine,tGun;",
        "MoveL pElsewhere,v10,fine,tGun\\WObj:=wPart;",
        "DoSomething 1,2;",
        "PDispOn pA,pB,tGun;",
        "GOTO again;",
        "MoveExtJ jExt,v10,fine;",
        "MoveJ Offs(pNo,0,0,nZ),v10,fine,tGun;",
    ),
    "krl": (
        "LIN XELSEWHERE",
        "PTP $POS_ACT",
        "do_something(1)",
        "GOTO again",
        "LIN {X nowhere,Y 0,Z 0,A 0,B 0,C 0}",
        "LIN_OFFS(XP1, FP1, 0, 0, 5)",
        "SCIRC XA, XB",
        "UNHEARD OF",
    ),
    "ls": (
        "  CALL ELSEWHERE ;",
        "L PR[9] 100mm/sec FINE ;",
        "  JMP LBL[9] ;",
        "L P[1] R[77]mm/sec FINE ;",
        "L P[2] 100mm/sec FINE Offset,PR[3] ;",
        "  UNHEARD OF ;",
        "L P[99] 100mm/sec FINE ;",
        "L P[2] 100furlong/min FINE ;",
    ),
    "urscript": (
        "movel(get_actual_tcp_pose())",
        "do_something(1)",
        "servoj(q, t=0.1)",
        "movel(elsewhere)",
        "speedl([0,0,0.1,0,0,0])",
        "unheard of",
        "movel(p[1,2,3])",
        "force_mode(p[0,0,0,0,0,0], 1)",
    ),
    "gcode": (
        "G41 D1",
        "#100=5",
        "G81 X1 Y1 Z1 R1",
        "G28 X0",
        "G1 X[#5]",
        "UNHEARD OF",
        "G2 X5 Y5",
        "G92 X0",
    ),
}


def test_200_unknown_constructs_are_named_by_line_and_end_the_stretch(tmp_path):
    """Each beside a construct that is known; no stretch of known moves goes across it."""
    random = np.random.default_rng(7)
    for k in range(200):
        name = list(DIALECTS)[k % 5]
        written = DIALECTS[name](0, draw_targets(k))
        construct = UNKNOWN[name][(k // 5) % 8]
        lines = written.text.split("\n")
        moving = [i for i, line in enumerate(lines) if re.search(PLACES[name], line)]
        place = int(random.choice(moving[1:-1]))
        lines.insert(place, f"   9:{construct}" if name == "ls" else construct)
        found = read(tmp_path, written._replace(text="\n".join(lines)))
        gaps = [remark.line for remark in found.remarks if remark.is_gap]
        assert place + 1 in gaps, (name, construct, found.remarks)
        for stretch in found.stretches:
            sides = {step.line > place + 1 for step in stretch}
            assert len(sides) == 1, (name, construct)


PLACES = {
    "rapid": r"^  Move",
    "krl": r"^lin",
    "ls": r":L P",
    "urscript": r"^  movel",
    "gcode": r"^N",
}


def test_a_program_whose_targets_do_not_change_is_written_byte_for_byte(tmp_path):
    """Every move of the corpus is given its own target again; G-code too, that is not written."""
    for name, style, seed in CASES:
        written = DIALECTS[name](style, draw_targets(seed))
        found = read(tmp_path, written)
        steps = [x for stretch in found.stretches for x in stretch if x.spot.X is not None]
        changes = [Replacement(x, (x.base.X @ x.spot.X)[None]) for x in steps]
        assert len(changes) >= 5
        again = replace_targets(found, changes).encode(found.encoding)
        assert again == (tmp_path / f"seam{written.ending}").read_bytes()


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig"])
def test_letters_of_other_encodings_do_not_matter(tmp_path, encoding):
    written = DIALECTS["krl"](0, draw_targets(1))
    path = tmp_path / "seam.src"
    path.write_bytes(written.text.replace("; x", "; Fräsen").encode(encoding))
    found = read_program(path)
    assert found.moves == len(written.moves)
    assert replace_targets(found, []).encode(found.encoding) == path.read_bytes()


def test_an_external_axis_that_moves_is_refused_by_name(tmp_path):
    written = DIALECTS["krl"](1, draw_targets(1))
    moved = written._replace(data=written.data.replace("E1 0.0", "E1 5.0", 1))
    found = read(tmp_path, moved)
    assert any("E1 changes from 5 to 0" in remark.text for remark in found.remarks)


def test_what_no_branch_is_chosen_of_is_read_branch_by_branch(tmp_path):
    """A move behind an input is no part of the path before it; without moves nothing is cut."""
    text = DIALECTS["urscript"](3, draw_targets(1)).text
    path = tmp_path / "seam.script"
    path.write_text(text)
    assert len(read_program(path).stretches) == 1
    path.write_text(text.replace("set_standard_digital_out(1, False)", "movel(p[0.1,0,0,0,0,0])"))
    assert len(read_program(path).stretches) == 3


@pytest.fixture(scope="module")
def robot():
    return at.Robot.load("rx90b")


SEAM = """DEF seam ( )
$BASE={X 575,Y 0,Z 50,A -45,B 0,C 0}
$TOOL=TOOL_DATA[1]
$VEL.CP=0.1
$APO.CDIS=5
PTP {X -60,Y 0,Z 0,A 225,B 0,C 180}
LIN {X 0,Y 0,Z 0,A 225,B 0,C 180} C_DIS
LIN {X 0,Y -60,Z 0,A 225,B 0,C 180}
END
"""


@pytest.mark.parametrize(
    ("old", "new", "tool", "sentence"),
    [
        ("", "", None, "tool TOOL_DATA.1. has no values .* --tool NAME"),
        (
            "$BASE={X 575,Y 0,Z 50,A -45,B 0,C 0}",
            "$BASE=BASE_DATA[3]",
            "laser_head",
            "BASE_DATA.3. has no values",
        ),
        ("$VEL.CP=0.1", "$VEL.CP=0", "laser_head", "line 7: its speed must be above 0"),
        ("Y -60,Z 0", "Y -1300,Z 0", "laser_head", r"out of reach(.|\n)*line 8"),
        (
            "LIN {X 0,Y -60,",
            "CIRC {X 30,Y 0,Z 0},{X 60,Y 0,",
            "laser_head",
            "line 8.*line|line 8.*CIRC",
        ),
    ],
)
def test_what_a_program_lacks_or_cannot_do_is_said_with_its_line(
    tmp_path, robot, old, new, tool, sentence
):
    path = tmp_path / "seam.src"
    path.write_text(SEAM.replace(old, new) if old else SEAM)
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.predict(at.Job.from_program(path, robot.with_tool(tool), tolerance="0.4 mm"))


def test_a_program_becomes_the_job_that_its_moves_say(tmp_path, robot):
    path = tmp_path / "seam.src"
    path.write_text(SEAM)
    job = at.Job.from_program(path, robot.with_tool("laser_head"), tolerance="0.4 mm")
    assert [segment.line for segment in job.description.segment] == [7, 8]
    assert job.description.segment[0].zone == 5e-3
    assert at.predict(job).verdict.within
    job.save(tmp_path / "job.toml")
    assert at.Job.load(tmp_path / "job.toml").description == job.description


def test_the_tool_of_a_program_takes_the_place_of_the_robots(tmp_path, robot):
    path = tmp_path / "seam.src"
    path.write_text(SEAM.replace("TOOL_DATA[1]", "{X 0,Y 0,Z 250,A 0,B 10,C 0}"))
    mounted = robot.with_tool("laser_head")
    job = at.Job.from_program(path, mounted, tolerance="0.4 mm")
    q = np.zeros(6)
    flange = mounted.forward_kinematics(q, frame="flange")
    tip = np.linalg.inv(flange) @ job.robot().forward_kinematics(q)
    assert np.abs(tip[:3, 3] - (0, 0, 0.25)).max() < 1e-12
    assert tip[0, 2] == pytest.approx(np.sin(np.radians(10)))


def test_inches_and_millimetres_may_change_in_a_program(tmp_path):
    path = tmp_path / "part.nc"
    path.write_text("G21 G90\nG0 X0 Y0 Z0\nG1 X25.4 F60\nG20\nG1 X2 F60\n")
    steps = read_program(path).stretches[0]
    assert [step.spot.X[0, 3] for step in steps] == pytest.approx([0.0, 0.0254, 0.0508])
    assert steps[-1].speed == pytest.approx(0.0254)


def test_a_log_or_a_table_with_time_is_no_program(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("time,x,y,z\n0,0,0,0\n")
    assert find_format(log) is None
    points = tmp_path / "points.csv"
    points.write_text("x [mm],y [mm],z [mm]\n0,0,0\n10,0,0\n20,1,0\n")
    assert find_format(points).name == "points"


def test_a_program_of_more_than_16_mb_is_refused(tmp_path):
    path = tmp_path / "huge.src"
    path.write_bytes(b"LIN {X 1}\n" * 1_700_000)
    with pytest.raises(at.ArmtwinError, match="at most 16 MB"):
        read_program(path)


def test_no_mutation_of_a_program_is_more_than_refused(tmp_path):
    """Letters, words and lines left out, doubled or exchanged: read, or refused by a sentence."""
    random = np.random.default_rng(3)
    signs = list("[]{}();:,.$#\\\n-9E\"'%")
    for k in range(200):
        name = list(DIALECTS)[k % 5]
        written = DIALECTS[name](k % 4, draw_targets(k))
        letters = list(written.text)
        for _ in range(int(random.integers(1, 25))):
            at_ = int(random.integers(len(letters)))
            how = random.integers(3)
            letters[at_ : at_ + int(random.integers(1, 9))] = (
                []
                if how == 0
                else [str(random.choice(signs))]
                if how == 1
                else letters[at_ - 9 : at_]
            )
        with suppress(at.ArmtwinError):
            read(tmp_path, written._replace(text="".join(letters)))


def test_the_examples_of_the_docs_are_the_same_two_seams_in_every_dialect():
    folder = Path(__file__).parents[2] / "docs" / "programs"
    given = read_side_file(folder / "frames.toml")
    places = []
    for ending in ("src", "mod", "ls", "script", "nc"):
        found = read_program(folder / f"two_seams.{ending}", given)
        assert not [x for x in found.remarks if x.is_gap]
        (steps,) = found.stretches
        places.append([(step.base.X @ step.spot.X)[:3, 3] for step in steps])
    assert np.ptp(np.array(places), axis=0).max() < 1e-6
