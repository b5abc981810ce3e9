"""Where the seams of chapter 5 may lie: what its sentences on joint motion leave open.

    python studies/chapter_5_placements.py

The document does not say where its seams lie, nor how the head is turned about its beam. It says
which joints turn back, when, and how fast they are. Those sentences choose, sizes of errors never:

- straight seam: joints 2, 3 and 5 turn back, and no others, at about 5.25 s (section 5.4)
- corner with following head, r = 100 mm: each joint turns back twice or more in the corner (5.5.2)
- corner with fixed head, r = 50 mm: joints 2, 3 and 5, and no others, at about 3.9 s (5.5.3)
- its largest joint speed is one order lower than with the following head (5.5.3)
- what the document ran is within the limits of the joints: r = 100 and 50 mm at 100 mm/s and 40 mm
  at 50 mm/s following, r = 50 to 2.5 mm fixed

"About" is read as within 0.05 s, "one order" as a factor of 5 to 20. Assumed besides: the beam
points straight down, a following head has its axes along the seam's, both corners lie in one place,
and the arm reaches forward, elbow up. A seam below the robot's foot (z < 0) wants a pedestal.

Ref: [Waiboer 2007, sections 5.4 and 5.5]
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import pi, radians
from typing import TypeVar

import numpy as np

import armtwin as at
from armtwin.maths.rotations import from_rpy, pose

LINE = "rx90b_line"
FOLLOWING = "rx90b_corner_follow"
FIXED = "rx90b_corner_fixed"

STARTS = 1.125  # 1 s of rest and half the ramp: when a seam without ramp would have to begin [s]
ABOUT = 0.05  # how far from a time "about" reaches [s]
LEAST_ORDER, MOST_ORDER = 5.0, 20.0  # ratios of speeds that are one order
SPEED = 0.1  # of the tool [m/s]
SAMPLES = 241  # poses along a seam
ALIGNED = (0, 90, 180, 270)  # turns of a head whose axes lie along the seam's [deg]
STEP = 25  # of the scan over places [mm]
ANGLE_STEP = 15  # of the scan over turns [deg]
REVERSING = [2, 3, 5]  # joints that turn back on the line, and in the corner with fixed head


@dataclass(frozen=True)
class Placement:
    """Where a seam lies in the base frame, and how the head is turned about its beam.

    Attributes:
        x: Distance of the workpiece's origin from the axis of joint 1 [mm].
        z: Height of the workpiece's origin over the robot's foot [mm].
        turn: Turn of the workpiece about the vertical [deg].
        head: Turn of the head about the vertical, in the frame it keeps to [deg].
    """

    x: int
    z: int
    turn: int
    head: int

    @property
    def position(self) -> tuple[float, float, float]:
        """Origin of the workpiece in the base frame [m]."""
        return self.x / 1000, 0.0, self.z / 1000


@dataclass(frozen=True)
class Corner:
    """One place of the corner, with the turns of both heads.

    Attributes:
        following: Placement with the head that follows the seam.
        fixed: Placement with the head that keeps its orientation.
    """

    following: Placement
    fixed: Placement


Place = TypeVar("Place", Placement, Corner)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A seam in the frame of its workpiece.

    Attributes:
        s: Arc lengths, (m,) [m].
        X: Poses of the head at turn 0, (m, 4, 4).
        corner: Where its corner begins and ends [m]; the whole seam if it has none.
    """

    s: np.ndarray
    X: np.ndarray
    corner: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Motion:
    """Joints along a seam.

    Attributes:
        s: Arc lengths, (m,) [m].
        q: Joint positions, (m, 6) [rad].
    """

    s: np.ndarray
    q: np.ndarray

    @property
    def slopes(self) -> np.ndarray:
        """Joint positions per arc length between the samples, (m - 1, 6) [rad/m]."""
        ways = np.diff(self.s)
        return np.diff(self.q, axis=0) / ways[:, None]

    def largest_speeds(self, speed: float = SPEED) -> np.ndarray:
        """Largest speed of each joint at a steady speed of the tool, (6,) [rad/s]."""
        sizes = np.abs(self.slopes)
        return speed * sizes.max(axis=0)

    def reversals(self) -> list[np.ndarray]:
        """Arc lengths at which each joint turns back [m]."""
        places = (self.s[1:] + self.s[:-1]) / 2
        return [crossings(places, slope) for slope in self.slopes.T]


def crossings(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Places at which values change their sign."""
    last = np.flatnonzero(values[1:] * values[:-1] < 0)
    before, after = values[last], values[last + 1]
    share = before / (before - after)
    return places[last] + share * (places[last + 1] - places[last])


@cache
def robot() -> at.Robot:
    """The arm with its laser head."""
    return at.Robot.load("rx90b").with_tool("laser_head")


# Jobs and motions at a placement


def with_radius(job: at.Job, radius: float | None) -> at.Job:
    """The job with another radius of its corner [m]."""
    if radius is None:
        return job
    first, *others = job.description.segment
    segments = (replace(first, blend=radius), *others)
    return at.Job(replace(job.description, segment=segments), job.origin)


def turned(job: at.Job, placement: Placement) -> at.Job:
    """The job at a placement, whatever its posture."""
    d = job.description
    turn, head = radians(placement.turn), radians(placement.head)
    workpiece = replace(
        d.workpiece,
        position=placement.position,
        orientation=replace(d.workpiece.orientation, rpy=(0.0, 0.0, turn)),
    )
    tool = replace(d.orientation.tool, rpy=(pi, 0.0, head))
    orientation = replace(d.orientation, tool=tool)
    return at.Job(replace(d, workpiece=workpiece, orientation=orientation), job.origin)


@cache
def drawn(name: str, radius: float | None) -> Drawn:
    """The seam of a shipped job with a radius of its corner [m]."""
    job = with_radius(at.Job.load(name), radius)
    seam = turned(job, Placement(0, 0, 0, 0)).seam
    s = np.linspace(0, seam.length, SAMPLES)
    jet, turning = seam.at(s)
    X = np.zeros((SAMPLES, 4, 4))
    X[:, :3, :3] = turning.R
    X[:, :3, 3] = jet.p
    X[:, 3, 3] = 1
    corner = (0.0, seam.length)
    for stretch in seam.path.stretches:
        if stretch.corner:
            corner = (stretch.start, stretch.stop)
    return Drawn(s, X, corner)


def motion(name: str, placement: Placement, radius: float | None = None) -> Motion | None:
    """Joints along a seam at a placement; None where they cannot reach it within their limits."""
    seam = drawn(name, radius)
    turn = from_rpy(0.0, 0.0, radians(placement.turn))
    head = from_rpy(0.0, 0.0, radians(-placement.head))
    X_WP = pose(turn, placement.position)
    X_TH = pose(head, np.zeros(3))
    q = along(X_WP @ seam.X @ X_TH)
    return None if q is None else Motion(seam.s, q)


def along(X: np.ndarray) -> np.ndarray | None:
    """Joint positions along poses, arm forward and elbow up, within the joints' limits."""
    for start in robot().inverse_kinematics(X[0]):
        forward = abs(start[0]) < pi / 2
        if forward and start[2] > 0 and start[4] > 0:
            return within_limits(robot().inverse.trace(X, start))
    return None


def within_limits(q: np.ndarray) -> np.ndarray | None:
    """Joint positions, turned by whole turns where that brings them within their limits."""
    low, high = robot().position_limits
    found = np.full_like(q, np.nan)
    for way in (-2 * pi, 2 * pi, 0.0):  # as they are, where that does
        other = q + way
        inside = (other > low) & (other < high)
        found = np.where(inside.all(axis=0), other, found)
    return None if np.isnan(found).any() else found


def placed(
    name: str, placement: Placement, radius: float | None = None, speed: float = SPEED
) -> at.Job:
    """A shipped job at a placement, with a radius of its corner [m] and a speed [m/s]."""
    job = turned(with_radius(at.Job.load(name), radius), placement)
    found = motion(name, placement, radius)
    posture = None if found is None else tuple(map(float, found.q[0]))
    return at.Job(replace(job.description, posture=posture, speed=speed), job.origin)


def as_shipped(name: str) -> Placement:
    """The placement of a shipped job."""
    d = at.Job.load(name).description
    x, _, z = d.workpiece.position
    turn = np.degrees(d.workpiece.orientation.rpy[2])
    head = np.degrees(d.orientation.tool.rpy[2])
    return Placement(round(1000 * x), round(1000 * z), round(turn), round(head))


# What the document says


def times(places: np.ndarray) -> np.ndarray:
    """Times at which places of a seam are passed, beyond its ramp [s]."""
    return STARTS + places / SPEED


def that_reverse(found: Motion) -> list[int]:
    """Joints that turn back, by their number from 1."""
    return [joint for joint, places in enumerate(found.reversals(), 1) if len(places)]


def only_reverse_at(found: Motion, time: float) -> bool:
    """Whether joints 2, 3 and 5 turn back once each at about a time, and no others do."""
    places = np.concatenate(found.reversals())
    if that_reverse(found) != REVERSING or len(places) != len(REVERSING):
        return False
    off = np.abs(times(places) - time)
    return bool(off.max() <= ABOUT)


def reversals_in_corner(placement: Placement) -> list[int] | None:
    """How often each joint turns back in the corner of 100 mm with following head."""
    found = motion(FOLLOWING, placement, 0.1)
    if found is None:
        return None
    start, stop = drawn(FOLLOWING, 0.1).corner
    counts = []
    for places in found.reversals():
        inside = (places >= start) & (places <= stop)
        counts.append(int(inside.sum()))
    return counts


def fits(name: str, placement: Placement, radius: float, speed: float = SPEED) -> bool:
    """Whether a corner is within the joints' limits of position and speed."""
    found = motion(name, placement, radius)
    if found is None:
        return False
    fast = found.largest_speeds(speed) > robot().limits.velocity
    return not fast.any()


def line_agrees(placement: Placement) -> bool:
    """Whether the straight seam at a placement moves its joints as the document says."""
    found = motion(LINE, placement)
    return found is not None and only_reverse_at(found, 5.25)


def following_agrees(placement: Placement) -> bool:
    """Whether the corner with following head moves its joints as the document says."""
    counts = reversals_in_corner(placement)
    if counts is None or min(counts) < 2:
        return False
    return fits(FOLLOWING, placement, 0.05) and fits(FOLLOWING, placement, 0.04, 0.05)


def speed_ratio(corner: Corner) -> float:
    """Largest joint speed with following head, r = 100 mm, over that with fixed head, 50 mm."""
    following = motion(FOLLOWING, corner.following, 0.1)
    fixed = motion(FIXED, corner.fixed, 0.05)
    return float(following.largest_speeds().max() / fixed.largest_speeds().max())


def fixed_agrees(corner: Corner) -> bool:
    """Whether the corner with fixed head moves its joints as the document says."""
    found = motion(FIXED, corner.fixed, 0.05)
    if found is None or not only_reverse_at(found, 3.9):
        return False
    if not LEAST_ORDER <= speed_ratio(corner) <= MOST_ORDER:
        return False
    return fits(FIXED, corner.fixed, 0.0025)


# The scan


def grid(step: int) -> Iterator[tuple[int, int]]:
    """Distances and heights of a scan [mm], beyond all that the arm reaches."""
    for x in range(50, 1001, step):
        for z in range(-800, 1001, step):
            yield x, z


def line_placements(step: int, heads: Sequence[int] = ALIGNED) -> Iterator[Placement]:
    """Placements of the straight seam that agree with the document."""
    for head in heads:
        for x, z in grid(step):
            placement = Placement(x, z, 0, head)
            if line_agrees(placement):
                yield placement


def corner_placements(
    step: int, turns: Sequence[int], heads: Sequence[int] = ALIGNED
) -> Iterator[Corner]:
    """Placements of the corner that agree with the document."""
    for turn in turns:
        for head in heads:
            for x, z in grid(step):
                following = Placement(x, z, turn, head)
                if following_agrees(following):
                    yield from with_fixed_heads(following)


def with_fixed_heads(following: Placement) -> Iterator[Corner]:
    """Turns of the fixed head that agree with the document at a place of the corner."""
    for head in range(0, 360, ANGLE_STEP):
        corner = Corner(following, replace(following, head=head))
        if fixed_agrees(corner):
            yield corner


def all_corner_placements() -> list[Corner]:
    """Placements of the corner that agree; which turns do is found with twice the step."""
    coarse = list(corner_placements(2 * STEP, range(-180, 180, ANGLE_STEP)))
    turns = {found.following.turn for found in coarse}
    heads = {found.following.head for found in coarse}
    return list(corner_placements(STEP, sorted(turns), sorted(heads)))


def in_steps(place: Placement | Corner) -> tuple[float, float, float]:
    """Distance, height and turn of the (fixed) head in steps of the scan."""
    if isinstance(place, Corner):
        return in_steps(place.fixed)
    return place.x / STEP, place.z / STEP, place.head / ANGLE_STEP


def middle(places: Sequence[Place]) -> Place:
    """The placement whose distances to all others, in steps of the scan, have the least sum."""
    points = np.array([in_steps(place) for place in places])
    apart = np.abs(points[:, None] - points[None])
    turns = apart[..., 2]
    apart[..., 2] = np.minimum(turns, 360 / ANGLE_STEP - turns)
    sums = apart.sum(axis=(1, 2))
    return places[int(sums.argmin())]


def main() -> None:
    """Print the placements that agree with the document, and the middle of each."""
    lines = list(line_placements(STEP))
    corners = all_corner_placements()
    for name, places in (("line", lines), ("corner", corners)):
        print(f"{name}: {len(places)} placements, in the middle {middle(places)}")
        for place in places:
            print(f"  {place}")


if __name__ == "__main__":
    main()
