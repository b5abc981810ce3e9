"""Servos given by a rule: the shipped gains, and gains that move together."""

import numpy as np
import pytest

import armtwin as at
from armtwin.control.controller import KAFC, KI, KP, KV, KVF
from armtwin.robot.schema.overrides import apply_overrides
from armtwin.simulation.model import Model
from armtwin.simulation.prepared import controller_of

# Gains that the robot files gave one by one before they had a rule (kr300 and lwa4p to six digits).
FORMER = {
    "rx90b": {
        KP: [
            5.890646371834339,
            7.041135397076123,
            1.5859477381417602,
            0.4731964896395182,
            0.5895664879069616,
            0.6178717791235976,
        ],
        KI: [
            55.518034099950384,
            66.3611377091562,
            14.947205289370508,
            4.459771846667968,
            5.556533241633739,
            5.823304326465449,
        ],
        KV: [
            0.12500339841116986,
            0.14941753378986403,
            0.033654856268089596,
            0.008607035471984248,
            0.010723705237910983,
            0.00983373478445043,
        ],
        KVF: [
            0.12858260331639793,
            0.15323425504367819,
            0.03412746866923995,
            0.009344201393062981,
            0.011302921714515003,
            0.011258927250497305,
        ],
        KAFC: [
            0.0009325738481448403,
            0.0011147127697151793,
            0.00025107828441158045,
            5.5038706100902666e-05,
            6.85740012136868e-05,
            5.5022607421874995e-05,
        ],
    },
    "kr300": {
        KP: [41.1274, 48.8274, 33.3502, 2.48813, 2.48307, 2.47065],
        KI: [258.411, 306.791, 209.545, 15.6334, 15.6016, 15.5236],
        KV: [1.30913, 1.55422, 1.06157, 0.1056, 0.105385, 0.104858],
        KVF: [1.30913, 1.55422, 1.06157, 0.1056, 0.105385, 0.104858],
        KAFC: [0.0146499, 0.0173927, 0.0118796, 0.00157563, 0.00157242, 0.00156456],
    },
    "lwa4p": {
        KP: [0.0611696, 0.103611, 0.0602413, 0.0518928, 0.0171379, 0.0167816],
        KI: [0.19217, 0.325503, 0.189254, 0.163026, 0.0538403, 0.0527209],
        KV: [0.00311534, 0.00527685, 0.00306806, 0.00264288, 0.000872826, 0.00085468],
        KVF: [0.00311534, 0.00527685, 0.00306806, 0.00264288, 0.000872826, 0.00085468],
        KAFC: [5.578e-05, 9.44817e-05, 5.49335e-05, 4.73205e-05, 1.56279e-05, 1.5303e-05],
    },
}


@pytest.mark.parametrize("name", FORMER)
def test_a_servo_given_by_its_rule_has_the_shipped_gains(robots, name):
    gains = controller_of(robots[name], Model()).gains
    close = 1e-12 if name == "rx90b" else 1e-5
    for column, expected in FORMER[name].items():
        assert gains[:, column] == pytest.approx(expected, rel=close)


def test_twice_the_bandwidth_moves_all_gains_together(robots):
    robot = robots["rx90b"]
    rule = robot.description.servo["cascade"].rule
    double = {"servo.cascade.rule.bandwidth": [2 * f for f in rule.bandwidth]}
    quick = at.Robot(apply_overrides(robot.description, double, "test"))
    before, after = (controller_of(r, Model()).gains for r in (robot, quick))
    for column, power in ((KP, 2), (KV, 1), (KI, 3), (KAFC, 0)):
        assert after[:, column] == pytest.approx(2**power * before[:, column], rel=1e-12)
    friction = np.array(rule.friction_feedforward)
    assert after[:, KVF] - friction == pytest.approx(2 * (before[:, KVF] - friction), rel=1e-12)


def test_gains_beside_a_rule_and_neither_are_refused(robots):
    d = robots["rx90b"].description
    with pytest.raises(
        at.ArmtwinError, match="either a rule or gains of its own, got a rule and kp"
    ):
        at.Robot(apply_overrides(d, {"servo.cascade.kp": [1.0] * 6}, "test"))
    with pytest.raises(at.ArmtwinError, match=r"rule.bandwidth must have 1 or 6 values, got 2"):
        at.Robot(apply_overrides(d, {"servo.cascade.rule.bandwidth": [1.0, 2.0]}, "test"))
