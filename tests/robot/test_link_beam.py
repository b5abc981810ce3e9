import pytest

import armtwin as at
from armtwin.errors import FileError

BEAM = """
[[link.beam]]
to = "{to}"
EA = 1e9
GJ = {GJ}
EIy = "2e5 N m^2"
EIz = 2e5
elements = {elements}
source = "assumed: for this test"
"""


def robot_file(robots, tmp_path, to="joint_5", GJ="1.5e5", elements=2):
    """The RX90B's file with a beam in its forearm."""
    path = tmp_path / "bending.toml"
    robots["rx90b"].save(path)
    head, name, rest = path.read_text(encoding="utf-8").partition('name = "link_5"')
    at_link = head.rindex("[[link]]")
    beam = BEAM.format(to=to, GJ=GJ, elements=elements)
    path.write_text(head[:at_link] + beam + "\n" + head[at_link:] + name + rest, encoding="utf-8")
    return path


def test_beam_of_a_file_survives_the_round_trip(robots, tmp_path):
    robot = at.Robot.load(robot_file(robots, tmp_path))
    (beam,) = robot.description.link[3].beam
    assert (beam.to, beam.EIy, beam.elements) == ("joint_5", 2e5, 2)
    again = tmp_path / "again.toml"
    robot.save(again)
    assert at.Robot.load(again) == robot


def test_stiffness_of_zero_is_refused(robots, tmp_path):
    with pytest.raises(FileError, match=r"link\.4\.beam\.1\.GJ must be (greater than|above) 0"):
        at.Robot.load(robot_file(robots, tmp_path, GJ="0"))


def test_beam_must_end_at_what_its_link_carries(robots, tmp_path):
    with pytest.raises(FileError, match=r"link\.4\.beam\.1\.to: .*'joint_6' is not given"):
        at.Robot.load(robot_file(robots, tmp_path, to="joint_6"))


def test_number_of_elements_is_whole(robots, tmp_path):
    with pytest.raises(FileError, match="must be a whole number from 1 to 64, got 0"):
        at.Robot.load(robot_file(robots, tmp_path, elements=0))
