"""The MJCF file in MuJoCo: the same torques, the same closed loop, and what its check says."""

import json
import re
from dataclasses import replace
from functools import cache
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

import armtwin as at
from armtwin.exchange import check as checks, formats, mjcf, mujoco_run
from armtwin.exchange.mjcf import to_mjcf
from armtwin.exchange.reductions import fit_friction
from armtwin.exchange.robot_unit import prepare_hold
from armtwin.robot.dynamics.sag import Outside
from armtwin.simulation.closed_loop import prepare_run
from armtwin.simulation.options import RunOptions
from armtwin.simulation.prepared import mass_matrix
from tests.app.test_job_commands import call

LOADED = [
    ("rx90b", "laser_head", ""),
    ("kr300", "spindle", "recorded"),
    ("lwa4p", "torch", ""),
    ("tx40", "", ""),
    ("ur10e", "dispenser", ""),
]


def equipped(name, tool, payload):
    return at.Robot.load(name).with_tool(tool or None).with_payload(payload or None)


def states(robot, count=200):
    rng = np.random.default_rng(0)
    low, high = np.clip(robot.position_limits, -np.pi, np.pi)
    q = rng.uniform(low, high, (count, robot.n))
    return q, rng.normal(size=q.shape), 5 * rng.normal(size=q.shape)


@pytest.mark.parametrize(("name", "tool", "payload"), LOADED)
def test_mujoco_has_the_torques_of_the_twin(name, tool, payload):
    """To 1e-12, a gas strut to a millionth of its largest torque."""
    robot = equipped(name, tool, payload)
    run = prepare_hold(robot, at.Model(), robot.home)
    state = states(robot)
    found = mujoco_run.inverse_dynamics(to_mjcf(run, at.Model(), "lugre"), run, *state)
    wanted = robot.inverse_dynamics(*state)
    error = np.abs(found - wanted).max(axis=0) / np.abs(wanted).max(axis=0)
    least = [1e-6 if name == "kr300" and j == 1 else 1e-12 for j in range(robot.n)]
    assert (error < least).all()


def test_a_wrong_rotor_is_seen():
    """So that the test above can fail."""
    robot = at.Robot.load("rx90b")
    run = prepare_hold(robot, at.Model(), robot.home)
    exported = to_mjcf(run, at.Model(), "lugre")
    root = ElementTree.fromstring(exported.text)
    rotor = root.find("tendon/fixed[@armature]")
    rotor.set("armature", str(2 * float(rotor.get("armature"))))
    wrong = replace(exported, text=ElementTree.tostring(root, "unicode"))
    state = states(robot)
    found = mujoco_run.inverse_dynamics(wrong, run, *state)
    assert np.abs(found - robot.inverse_dynamics(*state)).max() > 1


@pytest.mark.parametrize("name", ["rx90b", "kr300"])
def test_the_tool_is_where_the_twin_has_it(name):
    robot = equipped(*next(x for x in LOADED if x[0] == name))
    run = prepare_hold(robot, at.Model(), robot.home)
    model, data, _ = mujoco_run.load(to_mjcf(run, at.Model(), "lugre"), run)
    data.qpos[:] = states(robot)[0][0]
    mujoco.mj_forward(model, data)
    wanted = robot.forward_kinematics(data.qpos)[:3, 3]
    assert np.abs(data.site("tool").xpos - wanted).max() < 1e-12


@cache
def predicted(name, **model):
    job = at.Job.load(name)
    described = replace(job.description, model=replace(job.description.model, **model))
    return at.predict(at.Job(described, job.origin))


def closed_loop(p, outside=None):
    """Deviations of the twin and of MuJoCo at the times of the twin, and the engine's warnings."""
    motion = at.check_motion_of(p)
    forces = motion.outside if outside is None else outside
    options = RunOptions(torque=forces.torque, wrench=forces.wrench)
    run = prepare_run(p.robot, motion.setpoints, motion.model, options=options)
    engine = mujoco_run.closed_loop(to_mjcf(run, motion.model, "lugre"), run, forces)
    poses = p.run.built.forward_kinematics(run.coordinates.of_bodies(engine.u))
    there = motion.deviation(engine.time, poses)
    found = np.stack([np.interp(p.run.trace_time, engine.time, x) for x in there.T], axis=1)
    return motion.deviation(p.run.trace_time, p.run.tool_poses()), found


def peak(deviation):
    return np.linalg.norm(deviation, axis=1).max()


JOBS = [
    ("rx90b_line", {}),
    ("rx90b_corner_fixed", {}),
    ("rx90b_corner_follow", {}),
    ("lwa4p_bead", {}),
    ("rx90b_line", {"joints": "elastic"}),
    ("kr300_frame", {}),
    ("kr300_frame", {"joints": "rigid"}),
]


@pytest.mark.parametrize(("name", "model"), JOBS)
def test_the_closed_loop_is_that_of_the_twin(name, model):
    """Peaks to 10 %, the difference to 5 µm rms or 1 % of the peak."""
    twin, found = closed_loop(predicted(name, **model))
    assert abs(peak(found) - peak(twin)) < 0.1 * peak(twin)
    rms = np.sqrt(np.mean(np.sum((found - twin)[twin.any(axis=1)] ** 2, axis=1)))
    assert rms < max(5e-6, 0.01 * peak(twin))


def test_without_friction_the_milling_force_is_most_of_what_the_mill_of_the_kr300_shows():
    """A closed loop in another engine that leaves it out has a tenth of the error.

    With friction the peak is that of friction: 725 µm with the force, 746 µm without.
    """
    p = predicted("kr300_frame", joints="rigid", friction="off")
    twin, without = closed_loop(p, Outside())
    assert peak(without) < 0.2 * peak(twin)


def test_lugre_elements_side_by_side_have_the_curve_of_the_law():
    """To 1 % of its largest torque over five decades of speed; stiffness before sliding is kept."""
    for name in ("rx90b", "kr300"):
        robot = at.Robot.load(name)
        friction = prepare_hold(robot, at.Model(), robot.home).plant.friction
        for (element, row), found in zip(
            robot.assembly.friction, fit_friction(friction, "lugre"), strict=True
        ):
            fastest = float(np.abs(row.weights) @ robot.limits.velocity)
            w = fastest * np.geomspace(1e-5, 1, 100)
            wanted = element.law.sliding_torque(w)
            error = np.sum(found.split(w), axis=0) - wanted
            assert np.abs(error).max() < 0.01 * wanted.max()
            stiffness = sum(bristle.stiffness for bristle in found.bristles)
            assert stiffness == pytest.approx(element.bristle_stiffness)


def test_the_keyframe_holds_the_robot_at_home_without_a_warning():
    """Within a second bristles take up what integrals do not hold exactly: 1 µm at the wrist."""
    robot = equipped(*LOADED[0])
    run = prepare_hold(robot, at.Model(), robot.home)
    model, data, _ = mujoco_run.load(to_mjcf(run, at.Model(), "lugre"), run)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    assert data.qpos == pytest.approx(robot.home)
    mujoco.mj_step(model, data, 4000)
    assert np.abs(data.qpos - robot.home).max() < 2e-6
    assert sum(warning.number for warning in data.warning) == 0


def test_an_elastic_drive_has_two_joints():
    robot = at.Robot.load("kr300")
    model = at.Model(joints="elastic")
    text = to_mjcf(prepare_hold(robot, model, robot.home), model, "lugre").text
    names = [
        joint.get("name") for joint in ElementTree.fromstring(text).find("worldbody").iter("joint")
    ]
    assert names == [*robot.joint_names, *(f"{name}_drive" for name in robot.joint_names)]


def test_rotors_that_elastic_drives_share_are_in_the_mass_matrix_of_the_engine():
    """The wrist of the RX90B: without 0.0256 kg m² between joints 5 and 6 it ran away.

    What a file adds are placeholders of 1e-9.
    """
    robot, model = at.Robot.load("rx90b"), at.Model(joints="elastic")
    run = prepare_hold(robot, model, robot.home)
    engine, data, places = mujoco_run.load(to_mjcf(run, model, "lugre"), run)
    data.qpos[places] = run.state.u
    mujoco.mj_forward(engine, data)
    found = np.zeros((engine.nv, engine.nv))
    mujoco.mj_fullM(engine, data, found)
    wanted = mass_matrix(run.coordinates.built, run.plant, run.state.u)
    assert np.abs(found[np.ix_(places, places)] - wanted).max() < 2e-8


def test_a_loop_that_runs_away_is_a_sentence_and_leaves_no_file(tmp_path, monkeypatch):
    """Elastic drives at the servo's tick of 0.25 ms, which is too long for their bristles."""
    monkeypatch.chdir(tmp_path)
    for name in ("STEPS_A_RADIAN", "STEPS_A_BRISTLE"):
        monkeypatch.setattr(mjcf, name, 1e-3)
    robot, model = at.Robot.load("rx90b"), at.Model(joints="elastic")
    check = checks.check_mjcf(robot, checks.usual_motion(robot, model), "lugre")
    assert re.search(r"MuJoCo 4\S+, runs away at \d\.\d\d s of 4\.00 s\.", check.sentence)
    assert list(tmp_path.iterdir()) == []


def test_a_step_of_the_file_holds_springs_and_bristles():
    """The RX90B without a tool: its wrist needs a third of the servo's tick when it is rigid."""
    robot = at.Robot.load("rx90b")
    steps = []
    for joints in ("rigid", "elastic"):
        model = at.Model(joints=joints)
        run = prepare_hold(robot, model, robot.home)
        root = ElementTree.fromstring(to_mjcf(run, model, "lugre").text)
        steps.append(run.controller.tick / float(root.find("option").get("timestep")))
    assert steps == pytest.approx([3, 4])


def test_without_the_engine_the_twin_estimates_what_the_file_does(monkeypatch):
    """The same reductions in the twin's own loop: within 3 µm of MuJoCo."""
    p = predicted("rx90b_corner_fixed")
    motion = at.check_motion_of(p)
    run = checks.check_mjcf(p.robot, motion, "lugre")
    monkeypatch.setattr(checks, "find_spec", lambda name: None)
    estimated = checks.check_mjcf(p.robot, motion, "lugre")
    assert "estimated, not run" in estimated.sentence
    assert "MuJoCo 4" in run.sentence
    assert abs(estimated.loops[1].peak_m - run.loops[1].peak_m) < 3e-6
    by_part = {loop.of: loop.rms_m for loop in run.costs}
    assert 0 < by_part["friction as it is fitted"] < by_part["all of these"] * 2


def test_the_check_lies_beside_the_file(tmp_path):
    shown = call(tmp_path, "export", "mjcf", "rx90b", "--tool", "laser_head", "--json")
    assert shown.code == 0
    assert [x["files"] for x in [json.loads(shown.out)]] == [["rx90b.xml", "rx90b.xml.check.json"]]
    check = json.loads((tmp_path / "rx90b.xml.check.json").read_text())["check"]
    assert check["how"].startswith("MuJoCo 4")
    names = [loop["of"] for loop in check["closed_loop"]]
    assert names[0] == "the twin"
    assert names[2].endswith("friction as frictionloss")
    assert max(torque["along"] for torque in check["torques"]) < 1e-12
    again = call(tmp_path, "export", "mjcf", "rx90b")
    assert again.code == 2
    assert "rx90b.xml: exists already" in again.err


@pytest.mark.parametrize(
    ("name", "sentence"), [("epaas", "hydraulic drives"), ("palletiser", "closed loops")]
)
def test_what_a_file_cannot_hold_is_refused(tmp_path, name, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.export_robot(at.Robot.load(name), tmp_path / "x.xml", "mjcf")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_is_refused_with_those_there_are(tmp_path):
    with pytest.raises(at.ArmtwinError, match="mjcf"):
        at.export_robot(at.Robot.load("rx90b"), tmp_path / "x.xml", "mjfc")
    assert set(formats.FORMATS) == {"urdf", "mjcf", "fmu", "c"}
