"""What load-dependent and self-locking worms of the wrist change on the following corner.

    python studies/worm.py

Document 000 finds its prediction of the following corner off between 320 and 370 mm and suspects
the worms of joints 5 and 6. The shares of the load are assumptions here, as no document has any:
0 is the plain law, 0.25 and 0.5 are usual worms, from 1 on they lock themselves.
"""

from dataclasses import replace

import numpy as np

import armtwin as at
from armtwin.drives.friction.load import Load

SHARES = (0.0, 0.25, 0.5, 1.1)
STRETCH = (0.32, 0.37)  # [m]


def with_worms(robot, share):
    """The RX90B with a share of the load in the friction of both wrist worms."""
    elements = []
    for element in robot.description.friction:
        is_worm = element.name in ("wrist_a", "wrist_c")
        elements.append(replace(element, load=Load(share)) if is_worm else element)
    return at.Robot(replace(robot.description, friction=tuple(elements)))


def main():
    """Predict the corner with each share."""
    job = at.Job.load("rx90b_corner_follow")
    plain = None
    print(
        "share   320-370 mm: lateral vertical   torque 5, 6 changed   whole seam: lateral vertical"
    )
    for share in SHARES:
        run = at.predict(job, with_worms(job.robot(), share))
        error, log = run.path_error, run.log
        inside = (error.s >= STRETCH[0]) & (error.s <= STRETCH[1])
        if plain is None:
            plain = run
        change = np.sqrt(((log.tau - plain.log.tau)[:, 4:] ** 2).mean(axis=0))
        size = np.sqrt((plain.log.tau[:, 4:] ** 2).mean(axis=0))
        sizes = [np.abs(x[inside]).max() for x in (error.lateral, error.vertical)]
        sizes += [np.abs(x).max() for x in (error.lateral, error.vertical)]
        print(
            f"{share:5.2f}   {1e6 * sizes[0]:16.0f} {1e6 * sizes[1]:8.0f} µm"
            f"   {100 * change[0] / size[0]:7.1f} {100 * change[1] / size[1]:7.1f} %"
            f"   {1e6 * sizes[2]:20.0f} {1e6 * sizes[3]:8.0f} µm"
        )


if __name__ == "__main__":
    main()
