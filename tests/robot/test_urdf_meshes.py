"""Meshes of a URDF: reduced at import, kept beside the robot file, never an error."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import trimesh

import armtwin as at
from armtwin.files.meshes import meshes_beside
from armtwin.robot.formats import urdf_meshes
from armtwin.robot.formats.urdf_meshes import MOST_TRIANGLES, read_urdf_meshes
from tests.app.test_job_commands import call

RADIUS, LIFT = 0.06, 0.2
LINK = """<link name="{name}">
  <visual><origin xyz="0 0 {lift}" rpy="0.3 0 0"/>
    <geometry><mesh filename="{file}"/></geometry></visual>
  <inertial><origin xyz="0 0 0.1"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{child}_turn" type="revolute"><origin xyz="0 0 0.4"/>
  <parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" velocity="3" effort="40"/></joint>"""


def ball(unit=1.0, subdivisions=3):
    found = trimesh.creation.icosphere(subdivisions=subdivisions, radius=RADIUS)
    found.apply_scale(unit)
    return found


def write_robot(folder, files):
    """A chain with a link for each file name."""
    names = ["foot", "arm", "fore", "hand"][: len(files)]
    parts = []
    for name, file in zip(names, files, strict=True):
        parts.append(LINK.format(name=name, file=file, lift=LIFT))
    for parent, child in pairwise(names):
        parts.append(JOINT.format(parent=parent, child=child))
    path = folder / "arm.urdf"
    path.write_text(f'<robot name="arm">{"".join(parts)}</robot>')
    return path


def read(path):
    return read_urdf_meshes(path, at.Robot.load(path).assembly)


def radii(mesh):
    """Distances of the corners from where the ball should be."""
    return np.linalg.norm(mesh.corners - [0, 0, LIFT], axis=1)


def test_245_760_triangles_become_10_000_on_the_same_surface(tmp_path):
    """In formats STL, OBJ and DAE: corners stay on the ball, its volume to 1 %."""
    for file in ("a.stl", "b.obj", "c.dae"):
        ball(subdivisions=6).export(tmp_path / file)
    meshes = read(write_robot(tmp_path, ["a.stl", "b.obj", "c.dae"]))
    assert meshes.remark == "3 links, 9996 of 245760 triangles"
    for mesh in meshes.links:
        assert np.abs(radii(mesh) / RADIUS - 1).max() < 0.01
        solid = trimesh.Trimesh(mesh.corners, mesh.faces)
        assert abs(solid.volume) == pytest.approx(4 / 3 * np.pi * RADIUS**3, rel=0.01)


def test_import_keeps_them_beside_the_robot_file(tmp_path):
    """At most 200 kB, and read again as they were."""
    ball(subdivisions=6).export(tmp_path / "a.stl")
    path = write_robot(tmp_path, ["a.stl"] * 3)
    shown = call(tmp_path, "import", path.name)
    assert shown.code == 0, shown.err
    assert "3 links, 9996 of 245760 triangles" in " ".join(shown.out.split())
    kept = meshes_beside(tmp_path / "arm.toml")
    assert kept.stat().st_size < 200_000
    again, first = at.Robot.load(tmp_path / "arm.toml").description.meshes, read(path)
    for one, other in zip(first.links, again.links, strict=True):
        assert one.link == other.link
        np.testing.assert_array_equal(one.corners, other.corners)


def test_millimetres_without_a_scale_are_noticed(tmp_path):
    """The place of the mesh stays in metres."""
    ball(1e3).export(tmp_path / "mm.stl")
    meshes = read(write_robot(tmp_path, ["mm.stl", "mm.stl"]))
    assert "120 m wide on an arm of 0.4 m: all are taken as millimetres" in meshes.remark
    for mesh in meshes.links:
        assert np.abs(radii(mesh) / RADIUS - 1).max() < 1e-3


def test_what_cannot_be_read_is_a_sentence_and_the_rest_is_shown(tmp_path):
    ball().export(tmp_path / "good.stl")
    (tmp_path / "broken.stl").write_bytes(b"\x00" * 80 + b"\xff\xff\xff\x7f" + b"\x01" * 50)
    with open(tmp_path / "huge.stl", "wb") as file:
        file.truncate(300_000_000)
    meshes = read(write_robot(tmp_path, ["good.stl", "broken.stl", "huge.stl", "absent.stl"]))
    assert [mesh.link for mesh in meshes.links] == ["foot"]
    assert "1 links, 1280 of 1280 triangles" in meshes.remark
    for sentence in (
        "broken.stl holds no surface",
        "larger than 200 MB",
        "absent.stl is not there",
    ):
        assert sentence in meshes.remark


def test_triangles_that_share_no_edge_are_reduced_too(tmp_path):
    """Neither closed nor manifold: each triangle lies apart, every tenth one is there twice."""
    solid = ball(subdivisions=6)
    rng = np.random.default_rng(0)
    soup = solid.triangles + 1e-4 * rng.normal(size=solid.triangles.shape)
    soup = np.concatenate([soup, soup[::10]])
    faces = np.arange(3 * len(soup)).reshape(-1, 3)
    trimesh.Trimesh(soup.reshape(-1, 3), faces, process=False).export(tmp_path / "soup.stl")
    (mesh,) = read(write_robot(tmp_path, ["soup.stl", "absent.stl"])).links
    assert len(mesh.faces) <= MOST_TRIANGLES
    assert np.abs(radii(mesh) / RADIUS - 1).max() < 0.05


def test_a_package_is_found_at_or_above_the_file(tmp_path):
    folder = tmp_path / "cell_description" / "urdf"
    folder.mkdir(parents=True)
    ball().export(tmp_path / "cell_description" / "a.stl")
    path = write_robot(folder, ["package://cell_description/a.stl", "absent.stl"])
    assert [mesh.link for mesh in read(path).links] == ["foot"]


def test_without_the_extra_a_sentence_says_what_reads_them(tmp_path, monkeypatch):
    monkeypatch.setattr(urdf_meshes, "find_spec", lambda name: None)
    meshes = read(write_robot(tmp_path, ["a.stl", "b.stl"]))
    assert meshes.remark == "2 meshes were not read: pip install 'armtwin[meshes]' reads them"


def test_a_damaged_file_of_meshes_is_a_sentence(tmp_path):
    path = tmp_path / "mine.toml"
    at.Robot.load("rx90b").save(path)
    meshes_beside(path).write_bytes(b"PK no archive")
    robot = at.Robot.load(path)
    assert "the robot has none" in robot.description.meshes.remark
    assert "meshes" not in robot.description.__repr__()


def test_absent_meshes_of_the_gen3_are_named(shared_data):
    meshes = read(shared_data / "kinova_gen3" / "kinova_gen3.urdf")
    assert meshes.links == ()
    assert meshes.remark.count("is not there") == 8


def test_a_report_with_meshes_has_at_most_1_5_megabytes(tmp_path):
    """The largest meshes that an import keeps, on every link of a shipped robot."""
    from armtwin.files.meshes import LinkMesh, Meshes

    robot = at.Robot.load("rx90b")
    solid = trimesh.creation.icosphere(subdivisions=4, radius=0.1)
    corners, faces = np.asarray(solid.vertices), np.asarray(solid.faces)
    names = [joint.child for joint in robot.assembly.tree.joints]
    links = tuple(LinkMesh.of(name, corners, faces) for name in names[:2])
    most = LinkMesh.of(names[2], corners, faces)
    assert 3 * len(faces) > MOST_TRIANGLES
    description = replace(robot.description, meshes=Meshes((*links, most), ""))
    p = at.predict("rx90b_line", robot.with_description(description))
    at.write_report(at.Answer(p, ()), tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 1_500_000
    assert '"faces"' in (tmp_path / "report.html").read_text()
    assert len(p.robot.plot().collections) == 3  # a surface a link
