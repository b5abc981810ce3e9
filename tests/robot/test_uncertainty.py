"""Standard deviations in a robot file, and the covariance beside it."""

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.files.covariance import beside
from armtwin.robot.schema.overrides import apply_overrides
from armtwin.robot.uncertainty import standard_deviations
from tests.app.test_job_commands import call

SOURCE = "identified: a test"


@pytest.fixture(scope="module")
def robot(robots):
    """A robot whose parameters but the first and the last are known, and err together."""
    robot = robots["tx40"]
    p = len(robot.parameters)
    root = np.random.default_rng(4).normal(size=(p, 3)) * np.abs(robot.parameters)[:, None]
    spread = root @ root.T + 1e-6 * np.eye(p)
    known = np.ones(p, dtype=bool)
    known[[0, -1]] = False
    deviation = standard_deviations(robot.parameter_names, spread, known, SOURCE)
    return at.Robot(replace(robot.description, standard_deviation=deviation), robot.origin)


@pytest.fixture
def saved(robot, tmp_path):
    robot.save(tmp_path / "my.toml")
    return tmp_path / "my.toml"


def test_a_saved_robot_loaded_again_is_as_uncertain(robot, saved):
    """To the last digit: numbers are written as they are."""
    was, found = robot.uncertainty, at.Robot.load(saved).uncertainty
    assert found.names == robot.parameter_names
    assert found.correlated
    assert found.remark == ""
    for key in ("values", "deviations", "covariance", "known"):
        assert np.array_equal(getattr(found, key), getattr(was, key)), key
    assert np.abs(found.covariance - np.diag(np.diag(found.covariance))).max() > 0


def test_what_is_not_known_has_no_deviation(robot):
    found = robot.uncertainty
    assert found.known.sum() == len(found.names) - 2
    assert not found.known[[0, -1]].any()
    assert not found.covariance[[0, -1]].any()
    assert not at.Robot.load("tx40").uncertainty.known.any()
    assert "no standard deviations" in at.Robot.load("tx40").uncertainty.remark


def changed(saved: Path, how: str) -> None:
    """Spoil the files of a saved robot."""
    place = beside(saved)
    if how == "missing":
        place.unlink()
    if how == "foreign":
        saved.write_text(saved.read_text() + "# a tool was added\n")
    if how == "cut":
        place.write_bytes(place.read_bytes()[:500])
    if how == "text":
        place.write_text("no archive")
    if how == "other":
        np.savez(place, covariance=np.eye(2))
    if how == "skew":
        held = dict(np.load(place))
        held["covariance"][0, 1] += np.sqrt(held["covariance"][0, 0] * held["covariance"][1, 1])
        np.savez(place, **held)
    if how == "complex":
        held = dict(np.load(place))
        np.savez(place, **{**held, "covariance": held["covariance"] + 0j})
    if how in PACKED_OTHERWISE:
        held = dict(np.load(place))
        with zipfile.ZipFile(place, "w", PACKED_OTHERWISE[how]) as archive:
            for name, array in held.items():
                with archive.open(f"{name}.npy", "w") as file:
                    np.save(file, array)
    if how == "lzma cut":
        place.write_bytes(place.read_bytes().replace(b"]\0\0", b"]\xff\xff"))
    if how == "encrypted":
        data = bytearray(place.read_bytes())
        at_entry = data.index(b"PK\x01\x02")
        while at_entry >= 0:
            data[at_entry + 8] |= 1
            at_entry = data.find(b"PK\x01\x02", at_entry + 4)
        place.write_bytes(data)
    if how in OTHER_ARRAYS:
        np.savez(place, **{**dict(np.load(place)), **OTHER_ARRAYS[how]})


PACKED_OTHERWISE = {"bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}
PACKED_OTHERWISE["lzma cut"] = zipfile.ZIP_LZMA
OTHER_ARRAYS = {
    "objects": {"names": np.array([{}], dtype=object)},
    "many formats": {"format": np.array([1, 2])},
    "no names": {"names": np.array(3)},
}


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ("missing", "my.covariance.npz is not there"),
        ("foreign", "my.covariance.npz belongs to another my.toml, or that was changed"),
        ("cut", "my.covariance.npz is damaged or no covariance file"),
        ("text", "my.covariance.npz is damaged or no covariance file"),
        ("other", "my.covariance.npz is damaged or no covariance file"),
        ("skew", "my.covariance.npz is damaged or no covariance file"),
        ("bzip2", "my.covariance.npz array 'format' must be stored or deflated"),
        ("lzma", "my.covariance.npz array 'format' must be stored or deflated"),
        ("lzma cut", "my.covariance.npz array 'format' must be stored or deflated"),
        ("encrypted", "my.covariance.npz array 'format' must not be encrypted"),
        ("complex", "my.covariance.npz is damaged or no covariance file"),
        ("objects", "my.covariance.npz array 'names' must hold plain numbers"),
        ("many formats", "my.covariance.npz is damaged or no covariance file"),
        ("no names", "my.covariance.npz is damaged or no covariance file"),
    ],
)
def test_without_its_covariance_a_robot_keeps_its_deviations(robot, saved, how, sentence):
    changed(saved, how)
    found = at.Robot.load(saved).uncertainty
    assert not found.correlated
    assert sentence in found.remark
    assert "the standard deviations are uncorrelated" in found.remark
    assert np.array_equal(found.deviations, robot.uncertainty.deviations)
    assert np.array_equal(found.covariance, np.diag(found.deviations**2))


def test_overrides_and_another_mounting_leave_parameters_as_uncertain(robot):
    override = {"joint.1.limits.velocity": "1 rad/s"}
    slow = at.Robot(apply_overrides(robot.description, override, "job.toml"), robot.origin)
    for other in (slow, robot.with_gravity((9.81, 0.0, 0.0))):
        assert other != robot
        assert other.uncertainty.correlated
        assert np.array_equal(other.uncertainty.covariance, robot.uncertainty.covariance)


def test_a_completed_robot_is_as_uncertain(robot, saved):
    """What is filled by rules has no deviation; what was known before keeps its own."""
    done = call(saved.parent, "complete", saved.name, "--out", "done.toml")
    assert done.code in (0, 1), done.err
    found = at.Robot.load(saved.parent / "done.toml").uncertainty
    assert found.correlated
    here = [found.names.index(name) for name in robot.parameter_names]
    assert np.array_equal(found.covariance[np.ix_(here, here)], robot.uncertainty.covariance)


def test_other_parameters_are_not_known_so(robot):
    assert not robot.with_parameters(1.01 * robot.parameters).uncertainty.known.any()


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("mx1 =", "mx99 =", "standard_deviation.parameters: 'mx99' is no parameter of the robot"),
        ("mx1 = ", "mx1 = -", "standard_deviation.parameters.mx1 must be at least 0"),
        ("[standard_deviation]", "[standard_deviation]\ncovariance = 3", "must not be in it"),
    ],
)
def test_deviations_that_cannot_be_are_refused(saved, old, new, sentence):
    saved.write_text(saved.read_text().replace(old, new, 1))
    with pytest.raises(at.FileError) as caught:
        at.Robot.load(saved)
    assert sentence in str(caught.value)


def test_numbers_that_are_not_told_keep_their_source(robots):
    """Half of a body's numbers identified: each key says where its own come from."""
    robot = robots["rx90b"]
    names = robot.parameter_names
    told = np.array([name in ("m2", "mx2", "Jm3") for name in names])
    found = robot.with_parameters(1.01 * robot.parameters, SOURCE, identified=told).description
    before = robot.description
    link = next(
        link for link in found.link if link.body != before.link[0].body and "2" in link.name
    )
    old = next(other.source for other in before.link if other.name == link.name)
    assert link.source["mass"] == SOURCE
    assert link.source["first_moment"].startswith(f"{SOURCE}; my2, mz2 as before (")
    assert link.source["inertia"] == (old if isinstance(old, str) else old["inertia"])
    assert found.motor[2].source["rotor_inertia"] == SOURCE
    assert found.motor[1].source == before.motor[1].source
    for new, was in zip(found.friction, before.friction, strict=True):
        assert new.law != was.law
        assert set(_texts(new.source)) <= set(_texts(was.source))


def _texts(source):
    return [source] if isinstance(source, str) else list(source.values())


def test_a_robot_whose_name_leaves_no_room_for_a_covariance_file_is_read_without_one(saved):
    path = saved.rename(saved.parent / f"{'x' * 245}.toml")
    assert "is not there" in at.Robot.load(path).uncertainty.remark
