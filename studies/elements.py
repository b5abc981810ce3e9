"""Finite elements against closed forms and published solutions, each row with its error.

    python studies/elements.py [--pictures]

With --pictures the drawings of docs/elements.md are made again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))

from tests.elements.models import (  # noqa: E402
    BENT,
    FIXED,
    STRIP,
    UNSTRETCHED,
    beam_row,
    double_pendulum,
    narrow_strip,
    tip_twist,
    tube,
)

from armtwin.elements.equations import (  # noqa: E402
    Equilibrium,
    buckling_load,
    equilibrium,
    modes,
    place,
)
from armtwin.elements.integration import StructureMotion, integrate  # noqa: E402
from armtwin.elements.parts import (  # noqa: E402
    Beam,
    CrossSection,
    Moment,
    Parts,
    Point,
    PointForce,
    RigidBody,
    Triad,
)
from armtwin.elements.structure import Structure  # noqa: E402

TURN = 0.174  # of two driven links: their tip leaves the rigid path by 0.43 m [rad]
PICTURES = ROOT / "docs" / "pictures"
Row = tuple[str, str, str]


def clamped(count: int, load: float, form: str = "better") -> Equilibrium:
    """Cantilever under a dead force across its tip, PL²/EI = load."""
    kinds = UNSTRETCHED if form == "better" else BENT
    force = (PointForce(f"p{count}", (0.0, load, 0.0)),)
    row = beam_row(count, tube(), loads=force, form=form, modes=kinds)
    return equilibrium(row, steps=max(1, int(load)))


def elastica() -> Iterator[Row]:
    """Large bending against quadrature."""
    exact = {1: (0.30172, 0.05643), 5: (0.71379, 0.38763), 10: (0.81061, 0.55500)}
    cases = (
        (1, 4, "printed"),
        (1, 2, "better"),
        (1, 4, "better"),
        (5, 4, "printed"),
        (5, 2, "better"),
        (5, 4, "better"),
        (5, 8, "better"),
        (10, 4, "better"),
        (10, 8, "better"),
    )
    for load, count, form in cases:
        x = clamped(count, load, form).position(f"p{count}")
        w, u = exact[load]
        error = max(abs(x[1] - w), abs(1 - x[0] - u))
        name = f"elastica PL²/EI = {load}, {count} elements, {form}"
        yield name, f"w {x[1]:.5f} u {1 - x[0]:.5f}", f"{error:.1e}"


def roll_up() -> Iterator[Row]:
    """A moment that bends a beam to a full circle."""
    for count, form in ((4, "better"), (16, "printed")):
        load = (Moment(f"t{count}", (0.0, 0.0, 2 * np.pi)),)
        x = equilibrium(beam_row(count, tube(), loads=load, form=form), steps=8)
        gap = float(np.linalg.norm(x.position(f"p{count}")))
        yield f"roll-up, {count} elements, {form}", "tip to root", f"{gap:.1e}"


def bend() -> Iterator[Row]:
    """Simo and Vu-Quoc's 45 degree bend."""
    for count in (8, 16):
        chord = 2 * 100.0 * np.sin(np.pi / 8 / count)
        load = (PointForce(f"p{count}", (0.0, 0.0, 600.0)),)
        section = tube(EI=833333.3, EA=1e7)
        row = beam_row(count, section, count * chord, load, turn=np.pi / 4 / count)
        x = equilibrium(row, steps=4).position(f"p{count}")
        found = np.array([x[1], x[0], x[2]])
        off = np.abs(found - [15.79, 47.23, 53.37]).max()
        yield f"45 degree bend, {count} elements", str(found.round(3)), f"{off:.2g} of 100"


def corner(count: int, form: str) -> Structure:
    """Two tubes of 1 m along x and y under a dead force EI/L² along z at the tip."""
    points = [Point("p0", (0.0, 0.0, 0.0), FIXED)]
    for i in range(1, 2 * count + 1):
        x, y = min(i / count, 1.0), max(i / count - 1.0, 0.0)
        points.append(Point(f"p{i}", (x, y, 0.0)))
    triads = [Triad("t0", held=True), *(Triad(f"t{i}") for i in range(1, 2 * count + 1))]
    beams = []
    for i in range(2 * count):
        ends, sides = (f"p{i}", f"p{i + 1}"), (f"t{i}", f"t{i + 1}")
        kinds = BENT if form == "printed" else UNSTRETCHED
        beams.append(Beam(f"b{i}", ends, sides, tube(GJ=0.8), kinds, (0.0, 0.0, 1.0), form))
    load = (PointForce(f"p{2 * count}", (0.0, 0.0, 1.0)),)
    return Structure(Parts(tuple(points), tuple(triads), tuple(beams), (), load))


def frame() -> Iterator[Row]:
    """Bending and torsion in space."""
    exact = np.array([0.8672, 0.5605, 1.0328])
    for count, form in ((1, "better"), (2, "better"), (4, "better"), (4, "printed")):
        x = equilibrium(corner(count, form), steps=2).position(f"p{2 * count}")
        off = np.linalg.norm(x - exact)
        yield f"L-frame, 2 x {count} elements, {form}", str(x.round(4)), f"{off:.1e}"


def strip() -> Iterator[Row]:
    """A narrow strip loaded across both sides at 30 degrees, against a Kirchhoff rod."""
    exact, twisted = np.array([490.837, 117.898, -16.771]) * 1e-3, -2.990
    for count, form in ((4, "better"), (16, "better"), (16, "printed")):
        rest = equilibrium(narrow_strip(count, form), steps=4)
        x = rest.position(f"p{count}")
        off = np.linalg.norm(x - exact) / STRIP
        twist = tip_twist(rest, count)
        found = f"{(x * 1e3).round(3)} mm, {twist:.3f}°"
        yield f"strip, {count} elements, {form}", found, f"{off:.1e} L, {twist / twisted - 1:+.1e}"


def columns() -> Iterator[Row]:
    """Buckling of a column and of a narrow beam."""
    for count in (1, 2, 4):
        row = beam_row(count, tube(), loads=(PointForce(f"p{count}", (-1.0, 0.0, 0.0)),))
        off = buckling_load(row) / (np.pi**2 / 4) - 1
        yield f"Euler column, {count} elements", "", f"{off:+.1e}"
    for count in (4, 16):
        section = tube(EI=1e3, EIy=1.0, GJ=0.5)
        row = beam_row(count, section, loads=(PointForce(f"p{count}", (0.0, -1.0, 0.0)),))
        off = buckling_load(row) / (4.0126 * np.sqrt(0.5)) - 1
        yield f"lateral buckling, {count} elements", "", f"{off:+.1e}"


def vibrations() -> Iterator[Row]:
    """Frequencies of a cantilever at rest and in a spin."""
    exact = np.array([1.8751, 4.6941, 7.8548]) ** 2
    for count in (1, 2, 4):
        row = beam_row(count, tube(mass=1.0), modes=UNSTRETCHED)
        found = 2 * np.pi * modes(equilibrium(row)).frequencies[::2][:3]
        off = found / exact[: len(found)] - 1
        yield f"clamped-free, {count} elements", str(found.round(4)), str(off.round(5))
    for count in (4, 16):
        row = beam_row(count, tube(), modes=UNSTRETCHED)
        row = row.with_parts(bodies=tuple(halves(count)))
        found = 2 * np.pi * modes(equilibrium(row)).frequencies[0]
        yield f"clamped-free, lumped, {count} elements", "", f"{found / exact[0] - 1:+.1e}"
    for count in (2, 8):
        for name, section in (("torsion", tube(EI=1e4, GJ=1.0, polar=1.0)), ("axial", rod())):
            row = beam_row(count, section)
            found = 2 * np.pi * modes(equilibrium(row)).frequencies
            off = np.abs(found / (np.pi / 2) - 1).min()
            yield f"{name}, {count} elements", "", f"{off:+.1e}"
    for count in (1, 2, 4, 8):
        offs = []
        for speed, flap in ((0.0, 3.5160), (2.0, 4.1373), (6.0, 7.3604), (12.0, 13.1702)):
            offs.append(spinning(count, speed) / flap - 1)
        yield f"flap at 0, 2, 6, 12, {count} elements", "", str(np.array(offs).round(5))


def rod() -> CrossSection:
    """A section that is soft in tension only."""
    return tube(EI=1e4, EA=1.0, mass=1.0)


def halves(count: int) -> Iterator[RigidBody]:
    """The mass of a row of beams as points, half of each at its ends."""
    for i in range(1, count + 1):
        mass = (0.5 if i == count else 1.0) / count
        yield RigidBody(f"p{i}", f"t{i}", (mass, *(0.0,) * 9))


def spinning(count: int, speed: float) -> float:
    """First flap frequency of a beam that spins about z [rad/s]."""
    row = beam_row(count, tube(mass=1.0), modes=UNSTRETCHED, drive=(0.0, 0.0, 1.0))
    v = np.zeros(row.n)
    v[0] = speed
    spun = equilibrium(row, still=("drive.twist",), v=v)
    found = modes(spun)
    flap = np.abs(found.coordinates[row.places[f"p{count}"] + 2]) > 1e-6
    return float(2 * np.pi * found.frequencies[flap][0])


def spun_up(count: int, h: float = 0.005) -> tuple[StructureMotion, np.ndarray]:
    """Kane's beam, from rest to 6 rad/s in 15 s, and its tip across the turning axis."""
    section = tube(EI=1.4e4, EA=2.8e7, GJ=1e4, mass=1.2, polar=6e-4)
    row = beam_row(count, section, 10.0, modes=UNSTRETCHED, drive=(0.0, 0.0, 1.0))
    T, W = 15.0, 6.0
    t = np.arange(0, 20, h)
    turning = T / (2 * np.pi)
    angle = W / T * (t * t / 2 + turning**2 * (np.cos(t / turning) - 1))
    angle = np.where(t < T, angle, W * (t - T / 2))
    v = np.where(t < T, W / T * (t - turning * np.sin(t / turning)), W)
    a = np.where(t < T, W / T * (1 - np.cos(t / turning)), 0.0)
    drives = {"drive.twist": np.stack([angle, v, a], axis=1)}
    motion = integrate(row, t, np.zeros(row.n), drives=drives)
    x = motion.position(f"p{count}")
    return motion, -np.sin(angle) * x[:, 0] + np.cos(angle) * x[:, 1]


def spin_up() -> Iterator[Row]:
    """Peak of the tip, -0.5739 m at 6.76 s by 16 cable elements."""
    for count in (1, 2, 4):
        motion, tip = spun_up(count)
        at = int(np.argmin(tip))
        yield f"spin-up, {count} elements", f"{tip[at]:.4f} m at {motion.t[at]:.2f} s", ""


def swing() -> Iterator[Row]:
    """Flexible double pendulum against 2 x 16 cable elements."""
    exact = np.array([[1.40887, -1.29592], [-1.43899, -1.32780]])
    for count, h in ((2, 2.5e-3), (4, 2.5e-3), (4, 1.25e-3)):
        row = double_pendulum(count)
        t = np.arange(0, 1 + h / 2, h)
        x = integrate(row, t, np.zeros(row.n)).position(f"p{2 * count}")[:, :2]
        off = np.linalg.norm(x[[len(t) // 2, -1]] - exact, axis=1) * 1e3
        name = f"double pendulum, 2 x {count}, h {h * 1e3:g} ms"
        yield name, "at 0.5 and 1 s", f"{off.round(3)} mm"


def driven() -> Iterator[Row]:
    """Two links driven from rest to rest in 0.8 s, against four elements a link."""
    found = {count: driven_tip(count) for count in (1, 2, 4)}
    rigid = driven_tip(1, EI=1e7)
    away = np.linalg.norm(found[4] - rigid, axis=1).max() * 1e3
    yield "two driven links, 2 x 4, EI 50", f"{away:.0f} mm at most from the rigid path", ""
    for count in (1, 2):
        off = np.linalg.norm(found[count] - found[4], axis=1).max() * 1e3
        yield f"two driven links, 2 x {count}", "from 2 x 4", f"{off:.3f} mm"


def driven_tip(count: int, EI: float = 50.0) -> np.ndarray:
    """Path of the tip over 1.2 s; both hinges turn by TURN, fastest in the middle."""
    T = 0.8
    t = np.arange(0, 1.2, 1.25e-3)
    phase = 2 * np.pi * np.minimum(t, T) / T
    angle = (phase - np.sin(phase)) / (2 * np.pi)
    v = (1 - np.cos(phase)) / T
    a = 2 * np.pi * np.sin(phase) / T**2
    turning = TURN * np.stack([angle, v, a], axis=1)
    row = double_pendulum(count, EI, gravity=0.0)
    drives = {"first.twist": turning, "second.twist": turning}
    motion = integrate(row, t, np.zeros(row.n), drives=drives)
    return motion.position(f"p{2 * count}")[:, :2]


STUDIES = (elastica, roll_up, bend, frame, strip, columns, vibrations, spin_up, swing, driven)


def pictures() -> None:
    """Draw the pictures of the page of worked examples."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    PICTURES.mkdir(exist_ok=True)
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6))
    for share in (0.25, 0.5, 0.75, 1.0):
        load = (Moment("t8", (0.0, 0.0, share * 2 * np.pi)),)
        rest = equilibrium(beam_row(8, tube(), loads=load), steps=8)
        x = np.array([rest.position(f"p{i}") for i in range(9)])
        axes[0].plot(x[:, 0], x[:, 1], "o-", markersize=3, label=f"{share:g} · 2πEI/L")
    axes[0].set(title="Rolled up by a moment", aspect="equal", xlabel="x/L", ylabel="y/L")
    axes[0].legend(fontsize=7)
    for load in (1, 2, 5, 10):
        rest = clamped(8, load)
        x = np.array([rest.position(f"p{i}") for i in range(9)])
        axes[1].plot(x[:, 0], x[:, 1], "o-", markersize=3, label=f"PL²/EI = {load}")
    axes[1].set(title="Under a dead force", aspect="equal", xlabel="x/L")
    axes[1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(PICTURES / "elements_bending.png", dpi=110)
    motion, tip = spun_up(2, 0.02)
    figure, axes = pyplot.subplots(figsize=(7, 3))
    axes.plot(motion.t, tip)
    axes.set(title="Tip of a beam spun up to 6 rad/s in 15 s", xlabel="s", ylabel="m")
    figure.tight_layout()
    figure.savefig(PICTURES / "elements_spin_up.png", dpi=110)
    palletiser_picture()


def palletiser_picture() -> None:
    """Draw the palletiser of the shelf at two places, its rods thin."""
    import matplotlib.pyplot as plt

    import armtwin as at
    from armtwin.robot.dynamics.structure import structure_of

    built = structure_of(at.Robot.load("palletiser").assembly)
    structure = built.structure
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    for axis, place_of in zip(axes, ((1.5, 0.0, 1.0), (2.0, 0.0, 0.3)), strict=True):
        q = built.inverse_kinematics(built.level(place_of, 0.0), (0.0, 0.8, -0.6, 0.0))
        x = place(structure, built.coordinates(q)).x
        for element in (*structure.beams, *structure.trusses):
            rigid = isinstance(element, Beam)
            names = element.points if rigid else (element.p, element.q)
            ends = np.array([x[structure.places[name] :][:3] for name in names])
            axis.plot(*ends[:, [0, 2]].T, color="0.2" if rigid else "C1", lw=4 if rigid else 1.5)
        axis.plot(place_of[0], place_of[2], "o", color="C0")
        axis.set(aspect="equal", xlabel="x [m]", title=f"flange at x = {place_of[0]} m")
    axes[0].set_ylabel("z [m]")
    figure.savefig(PICTURES / "elements_palletiser.png", dpi=110)


def main() -> None:
    """Print every row as it is found."""
    if "--pictures" in sys.argv:
        pictures()
        return
    for study in STUDIES:
        start = time.process_time()
        for name, found, error in study():
            print(f"{name:42s} {found:34s} {error}", flush=True)
        print(f"  [{study.__name__}: {time.process_time() - start:.1f} s]", flush=True)


if __name__ == "__main__":
    main()
