"""Settings of KRL splines and moves, as structures of the controller's data."""

from armtwin.programs.table import read_program

HEAD = """DEF blade ( )
$TOOL = {X 0,Y 0,Z 100,A 0,B 0,C 0}
$BASE = {X 0,Y 0,Z 0,A 0,B 0,C 0}
$VEL.CP = 0.5
PTP {A1 0,A2 -90,A3 90,A4 0,A5 30,A6 0}
LIN {X 1000,Y 0,Z 800,A 0,B 90,C 0}
"""


def read(folder, lines):
    path = folder / "blade.src"
    path.write_text(f"{HEAD}{lines}\nEND\n")
    return read_program(path)


def test_a_spline_takes_its_speed_from_a_structure_and_gives_it_back(tmp_path):
    found = read(
        tmp_path,
        "SPLINE WITH $VEL = {CP 0.003, ORI1 0.2, ORI2 0.2}\n"
        "SPL {X 1010,Y 5,Z 800,A 0,B 90,C 0}\n"
        "SPL {X 1020,Y 0,Z 800,A 0,B 90,C 0} WITH $VEL.CP = 0.01\n"
        "SPL {X 1030,Y 5,Z 800,A 0,B 90,C 0}\n"
        "ENDSPLINE\n"
        "LIN {X 1040,Y 5,Z 800,A 0,B 90,C 0}",
    )
    (stretch,) = found.stretches
    assert [step.speed for step in stretch[1:]] == [0.5, 0.003, 0.01, 0.003, 0.5]


def test_a_move_takes_its_zone_from_a_structure(tmp_path):
    found = read(
        tmp_path,
        "SLIN {X 1010,Y 0,Z 800,A 0,B 90,C 0} WITH $APO = {CDIS 3.0, CPTP 50} C_SPL\n"
        "SLIN {X 1010,Y 20,Z 800,A 0,B 90,C 0}",
    )
    (stretch,) = found.stretches
    assert [step.zone for step in stretch[-2:]] == [0.003, 0.0]


def test_a_statement_that_is_not_understood_is_quoted(tmp_path):
    found = read(tmp_path, "LIN {X 1010,Y 0,Z 800,A 0,B 90,C 0} WITH $VEL = {ORI1 3}")
    (gap,) = [remark for remark in found.remarks if remark.is_gap]
    assert gap.text.startswith("'LIN {X 1010,Y 0")
    assert gap.text.endswith("is not understood")
