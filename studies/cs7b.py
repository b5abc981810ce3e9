"""The robot and job of document 002: Stribeck friction with two directions, servo CS7B.

    python studies/cs7b.py

writes robot/library/rx90b_cs7b.toml: rx90b with

- the friction law of document 002, eq. 17 to 19, in place of table 3.1's. The document prints no
  values: each law is the least-squares fit to table 3.1's curve of the same robot, as a share of
  the torque, between 1 mrad/s and 1 rad/s; static and Coulomb friction are
  assumed 5 % larger in one direction and 5 % smaller in the other;
- the servo CS7B alone, with gains for its scheme: its D-block brakes as viscous friction does, so
  that its compensation of viscous friction has to hold the velocity feedback too. Without it each
  drive lags behind by k_v / k_p times its speed.

The job rx90b_cs7b is the straight seam of rx90b_line on that robot.

Ref: [Aarts-Jonker-Waiboer 2006, sections 4 and 5]
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

import armtwin as at
from armtwin.drives.friction.coulomb import Stribeck
from armtwin.identification.completion.sizes import viscous_at_motors

LIBRARY = Path(at.__file__).parent / "robot" / "library"
SPEEDS = 1e-3, 1.0, 60  # between which curves are fitted [rad/s], and at how many
MEAN_SPEED = 0.5  # at which the controller's viscous friction is the laws' [rad/s]
ASYMMETRY = 0.05  # assumed
FITTED = "derived: least-squares fit to the curve of table 3.1 of Waiboer 2007 times the assumed"
ABOUT = "; the two directions assumed 5 % apart from it"
NAME = "rx90b_cs7b"


def fit(law):
    """The Stribeck law that is nearest to another, as a share of the torque; how far it is off."""
    w = np.geomspace(*SPEEDS)
    torque = law.sliding_torque(w)

    def possible(x):
        level, drop, speed, exponent, viscous = x
        return Stribeck(level, level + drop, speed, exponent, viscous)

    def off(x):
        return possible(x).sliding_torque(w) / torque - 1

    most = torque.max()
    low, high = [0.0, 0.0, 1e-3, 0.5, 0.0], [most, most, 1.0, 2.0, most]
    first = [torque.min(), 0.2 * most, law.speed, 1.0, 0.1 * most]
    found = least_squares(off, first, bounds=(low, high), x_scale=first)
    numbers = (float(f"{x:.4g}") for x in vars_of(possible(np.round(found.x, 6))))
    return Stribeck(*numbers), float(np.abs(found.fun).max())


def vars_of(law):
    """The numbers of a Stribeck law."""
    return law.level, law.static, law.speed, law.exponent, law.viscous


def scaled(law, factor):
    """A law with other dry friction."""
    level, static = (float(f"{factor * x:.4g}") for x in (law.level, law.static))
    return replace(law, level=level, static=static)


def element(given):
    """A friction element with the law of document 002."""
    law, worst = fit(given.law)
    print(f"{given.name}: {law}, {100 * worst:.0f} % off at most")
    source = dict.fromkeys(("speed", "exponent", "viscous"), FITTED + " largest torque")
    source |= dict.fromkeys(("level", "static", "negative"), FITTED + " largest torque" + ABOUT)
    source |= {key: given.source[key] for key in ("presliding", "thermal")}
    directions = scaled(law, 1 + ASYMMETRY), scaled(law, 1 - ASYMMETRY)
    return replace(given, law=directions[0], negative=directions[1], source=source)


def main():
    """Write the robot."""
    robot = at.Robot.load("rx90b")
    d = robot.description
    friction = tuple(element(f) for f in d.friction)
    rubbing = at.Robot(replace(d, friction=friction))
    viscous = viscous_at_motors(rubbing, MEAN_SPEED)
    servo = replace(
        d.servo["cs7b"],
        viscous=tuple(float(f"{x:.4g}") for x in viscous),
        speed_feedforward=1.0,
        following_error_limit=d.servo["cascade"].following_error_limit,
        source=d.servo["cs7b"].source
        | {
            "coulomb": "derived: Coulomb friction of the laws, motor side",
            "viscous": "derived: viscous friction of the laws, motor side",
            "speed_feedforward": "assumed: the D-block is compensated as viscous friction",
            "following_error_limit": d.servo["cascade"].source["following_error_limit"],
        },
        coulomb=at_motors(robot, friction),
    )
    changed = replace(
        d,
        name=NAME,
        title="Staubli RX90B with the CS7B controller of document 002",
        friction=friction,
        servo={"cs7b": servo},
    )
    at.Robot(changed).save(LIBRARY / f"{NAME}.toml")


def at_motors(robot, friction):
    """Coulomb friction that each motor feels, mean of both directions [N m]."""
    levels = {f.name: (f.law.level + f.negative.level) / 2 for f in friction}
    ratios = np.diag(np.array(robot.description.gear.matrix))
    joint = [levels[f"joint_{k}"] for k in range(1, 5)]
    joint += [levels["wrist_a"], levels["wrist_b"] + levels["wrist_c"]]
    return tuple(float(f"{x:.4g}") for x in np.array(joint) / ratios)


if __name__ == "__main__":
    main()
