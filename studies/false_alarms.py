"""Whether a right log or job is suspected of a mistake: `python studies/false_alarms.py [WORD]`.

Every log of ../shared/data beside its robot, by each torque channel that it has: as it is, with
masses and drives of the robot file 30 % off each, with all of them 30 % too heavy, and with round
masses that somebody made up; what q beside q_ref, times and angles say; and every shipped job,
simulated, beside its own robot. Only logs whose names have the word, where one is given.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import armtwin as at
from armtwin.identification.plausibility.suspect import refuse_impossible, weigh_torques
from armtwin.identification.rigid_body.data.log_checks import check_logs
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.plausibility import plausibility_problems
from armtwin.logs.reference_plausibility import reference_hypotheses
from armtwin.prediction.job_check import JobCheck
from armtwin.robot.defaults.assumed_drives import lacks_drives, with_assumed_drives

DATA = Path(__file__).parents[2] / "shared" / "data"
# folder, robots of its logs, payload
ROBOTS = (
    ("staubli_tx40", "tx40", None),
    ("kuka_kr300", "kr300", "recorded"),
    ("kuka_kr300", "kr300", None),  # its logs have one of 151 kg
    ("ur10e", "ur10e/ur10e.urdf", None),
    ("ur10e", "ur10e", None),
    ("kinova_gen3", "kinova_gen3/kinova_gen3.urdf", None),
    ("dualarm_v2", "dualarm_v2/dualarm_v2.urdf", None),
    ("rokae_xmate7", "rokae_xmate7/xmate7.urdf", None),
    ("ur5_course", "ur5_course/ur5.urdf", None),
    ("formats", "rx90b", None),
)
TOOLS = {"formats": "laser_head"}  # that are on the arms
TORQUES = ("tau", "tau_m", "current", "tau_des", "tau_cur", "tau_act")
FLAT = {"dualarm_v2": "tau_act"}  # nothing was logged of three joints, which is rightly said
PRIORS = ("as it is", "links 30 % off", "all 30 % too heavy", "invented masses")


class Pair(NamedTuple):
    """A log beside the robot that it is of.

    Attributes:
        name: What the pair is called.
        robot: The robot.
        log: The log.
    """

    name: str
    robot: at.Robot
    log: at.Log


def list_pairs(data: Path = DATA, word: str = "") -> Iterator[Pair]:
    """Every log of the shared data, beside each of its robots."""
    for folder, file, payload in ROBOTS:
        robot = at.Robot.load(data / file if "/" in file else file).with_payload(payload)
        robot = robot.with_tool(TOOLS.get(folder))
        for path in sorted((data / folder).glob("*.csv.gz")):
            if word in f"{folder}/{path.name}":
                name = f"{folder}/{path.name.partition('.')[0]} beside {file} {payload or ''}"
                yield Pair(name.strip(), robot, at.Log.read(path))


def weaken(robot: at.Robot, prior: str, rng: np.random.Generator) -> at.Robot:
    """A robot as a file has it whose masses and drives are less well known."""
    if prior == "as it is":
        return robot
    bare = robot.with_payload(None).with_tool(None)
    phi = bare.parameters.copy()
    for k in range(bare.layout.links):
        ten = bare.layout.link(k)
        mass = max(phi[ten][0], 1e-9)
        phi[ten] *= {
            "links 30 % off": np.exp(0.3 * rng.normal()),
            "all 30 % too heavy": 1.3,
            "invented masses": rng.choice([1.0, 2.0, 3.0, 5.0]) / mass,
        }[prior]
    drives = slice(bare.layout.rotors.start, None)
    phi[drives] *= np.exp(0.3 * rng.normal(size=len(phi[drives])))
    on = robot.description.mounted
    weak = bare.with_parameters(phi).with_tool(on.tool or None)
    return weak.with_payload(on.payload or None)


def alarms_of_motion(pair: Pair) -> Iterator[str]:
    """What times, angles and the reference of a right log are suspected of."""
    yield from plausibility_problems(pair.log)
    try:
        check_logs(pair.robot, (pair.log,), "q")
    except at.ArmtwinError as error:
        if "moves" not in str(error):  # a joint at rest is no mistake of the log's
            yield str(error)
    if "q_ref" in pair.log:
        log = pair.log
        for one in reference_hypotheses(log.time, log.q, log.q_ref, pair.robot.joint_names):
            yield one.sentence


def alarms_of_torque(pair: Pair, source: str, prior: str, seed: int = 1) -> Iterator[str]:
    """What the torques of a right log are suspected of."""
    filled = with_assumed_drives(pair.robot) if lacks_drives(pair.robot) else pair.robot
    robot = weaken(filled, prior, np.random.default_rng(seed))
    weighed = weigh_torques(robot, [pair.log], source, Recipe())
    try:
        refuse_impossible(weighed.samples)
    except at.ArmtwinError as error:
        yield str(error)
    for one in weighed.hypotheses:
        yield one.sentence


def torques_of(pair: Pair) -> list[str]:
    """Channels of a log that are torques, or currents."""
    flat = FLAT.get(pair.name.partition("/")[0])
    return [source for source in TORQUES if source in pair.log and source != flat]


def alarms_of_jobs() -> Iterator[tuple[str, str]]:
    """What shipped jobs, and their simulated logs beside their own robots, are suspected of."""
    for name in at.jobs():
        job = at.Job.load(name)
        run = at.predict(job)
        own = Pair(f"job {name}", run.robot, run.log)
        for said in (*JobCheck(job).cautions, *alarms_of_motion(own)):
            yield own.name, said
        for said in alarms_of_torque(own, "tau", "as it is"):
            yield own.name, said


if __name__ == "__main__":
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    judged = alarms = 0
    for pair in list_pairs(word=asked):
        trials = [(source, prior) for source in torques_of(pair) for prior in PRIORS]
        found = [("motion", said) for said in alarms_of_motion(pair)]
        for source, prior in trials:
            said_here = alarms_of_torque(pair, source, prior)
            found += [(f"{source}, {prior}", said) for said in said_here]
        judged += 1 + len(trials)
        alarms += len(found)
        print(f"{pair.name}: {1 + len(trials)} readings, {len(found)} alarms", flush=True)
        for what, said in found:
            print(f"  {what}: {said}", flush=True)
    if not asked:
        for name, said in alarms_of_jobs():
            alarms += 1
            print(f"{name}: {said}", flush=True)
        judged += len(at.jobs())
    print(f"{judged} right logs and jobs, {alarms} alarms")
