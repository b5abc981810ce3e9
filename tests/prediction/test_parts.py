"""The path error by parts, and the causes that a controller does not see."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.groups import Force, Tolerance
from armtwin.prediction.parts import PARTS


def changed(job, **keys):
    return at.Job(replace(job.description, **keys), job.origin)


@pytest.fixture(scope="module")
def line():
    """The straight seam with elastic joints, no quantisation, pushed from above."""
    model = at.Model(quantise=False, joints="elastic")
    return changed(at.Job.load("rx90b_line"), model=model)


@pytest.fixture(scope="module")
def elastic(line):
    return at.predict(None, line)


def test_the_motors_tell_all_of_a_rigid_robots_error():
    run = at.predict(None, at.Job.load("rx90b_line"))
    assert at.error_parts(run) is None


def test_the_parts_add_up_and_the_motors_see_nothing_of_the_sag(elastic):
    """At 100 mm/s a sag of half a millimetre is nearly all that the controller does not see."""
    parts = at.error_parts(elastic)
    total = sum(parts.vertical[name] for name in PARTS)
    assert total == pytest.approx(elastic.path_error.vertical, abs=1e-15)
    sizes = {record["part"]: record for record in parts.table}
    assert sizes["arm"]["vertical_peak_m"] < 1e-9
    assert sizes["sag"]["vertical_rms_m"] > 3e-4
    assert sizes["dynamic"]["vertical_rms_m"] < 0.05 * sizes["sag"]["vertical_rms_m"]
    rigid = at.predict(None, changed(elastic.job, model=at.Model(quantise=False)))
    seen = parts.vertical["servo"] - rigid.path_error.vertical
    assert np.abs(seen[parts.on]).max() < 2e-5


def test_sag_is_explained_by_the_springs_that_give_way(elastic, line):
    """Balancer and weight bear most on joint 2; a spring that is stiff takes its share away."""
    tight = changed(line, tolerance=Tolerance(2e-3, 5e-4))
    told = at.explain(at.predict(None, tight))
    causes = [cause for x in told for cause in x.causes if x.span.direction == "vertical"]
    assert causes[0].cause == "elasticity"
    assert causes[0].joint in ("joint_2", "joint_3")
    assert causes[0].share > 0.2


def test_a_push_from_outside_is_named_and_so_is_play(line):
    """Gears with 0.4 mrad of play under a push that turns them over."""
    robot = at.Robot.load("rx90b")
    springs = tuple(
        replace(t, backlash=4e-4 if t.joint == "joint_1" else None)
        for t in robot.description.transmission
    )
    loose = at.Robot(replace(robot.description, transmission=springs))
    push = Force(value=(0.0, 0.0, -200.0))
    pushed = changed(line, force=(push,), tolerance=Tolerance(3e-4, 3e-4))
    told = at.explain(at.predict(loose, pushed))
    named = {cause.cause for x in told for cause in x.causes}
    assert "process force" in named
    assert {"elasticity", "backlash"} & named
