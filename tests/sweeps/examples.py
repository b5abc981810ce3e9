"""Short runs that the tests of sweeps share."""

from dataclasses import replace

import armtwin as at
from armtwin.sweeps.result import Course, SweepResult
from armtwin.sweeps.rows import REFUSED, ResultRow


def short_job(name="short"):
    """40 mm of the RX90B's line at 200 mm/s: a run of 0.3 s."""
    d = at.Job.load("rx90b_line").description
    return at.Job(
        replace(
            d,
            name=name,
            speed=0.2,
            start=(0.0, -0.02, 0.0),
            segment=(replace(d.segment[0], lin=(0.0, 0.02, 0.0)),),
            posture=None,
            time_law=replace(d.time_law, ramp=0.05),
            process=replace(d.process, after_ramp=0.02, before_ramp=0.0),
            standstill=replace(d.standstill, before=0.05, after=0.0),
        )
    )


PLACES = {"workpiece.position.1": ["400 mm", "450 mm", "900 mm"], "speed": ["0.15 m/s", "0.3 m/s"]}


def places(count=300):
    """So many short runs, in a file of its own name: a grid of 10 speeds."""
    columns = count // 10
    x = [f"{400 + 100 * k / columns:.4f} mm" for k in range(columns)]
    speeds = [f"{150 + 10 * k} mm/s" for k in range(10)]
    return at.Sweep.over(short_job(), {"workpiece.position.1": x, "speed": speeds}, name="short")


def without_cost(rows):
    """Rows without the one number that differs when they are computed again."""
    return [replace(row, cpu_s=0.0) for row in rows]


def made(axes, ratio_of, **options):
    """A sweep whose ratios are made up: a function of its inputs in SI; None cannot be run."""
    sweep = at.Sweep.over(short_job(), axes, **options)
    rows = []
    for number in range(len(sweep)):
        ratio = ratio_of(*sweep.inputs(number).values())
        if ratio is None:
            rows.append(ResultRow(REFUSED, sentence=f"{number} mm out of reach"))
        else:
            outcome = "holds" if ratio <= 1 else "does not hold"
            rows.append(
                ResultRow(outcome, ratio=ratio, duration_s=1.0, probability=None, cpu_s=0.01)
            )
    return SweepResult(sweep, tuple(rows), Course(len(rows), 0, 1.0, "one thread"))
