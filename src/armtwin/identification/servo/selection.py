"""Selection of terms, poles and encoder of a servo by cross-validation.

One controller runs one law on all its drives, with gains of their own: terms and number of poles
are chosen for all drives together, the encoder for each.

Sums of products of all columns are kept for every pole of a grid and every part of the logs; any
choice of terms, with any part left out, is then a small linear system.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armtwin.identification.fitting.comparison import estimate_gain
from armtwin.identification.servo import structure as loops
from armtwin.identification.servo.signals import PARTS, Signals
from armtwin.maths.batch import Flags, Floats, Indices, Integers, TwoArrays
from armtwin.robot.schema.servo import Side

# A term must lower the squared error on left-out parts by this factor: about 10 % of its rms.
PENALTY = 0.2
UNUSUAL = 4.0  # times the median error of logs, from which on one counts less
# In a loop without integral the reference is nearly the integral of viscous friction, which the
# load has already: a servo without speed feed-forward shows far more clearly than this.
OF_REFERENCE = 4  # terms that it counts as
RIDGE = 1e-11  # of the scaled sums, so that columns that are one still have a solution
ONE_POLE = (0.0, *np.geomspace(0.02, 60.0, 36))  # [1/s]
TWO_POLES = tuple(np.geomspace(3.0, 400.0, 9))  # damping p1 [1/s]
STIFFNESS = (0.02, 0.08, 0.2, 0.5)  # p0 / p1²; above 1/4 the loop oscillates
ERROR, TWIST = len(loops.TERMS), len(loops.TERMS) + 1  # columns beside those of the terms

Order = Literal[1, 2]
# A slow loop passes the speed as it is: a delay of the whole reference is no term of its own.
OPTIONAL: dict[int, Indices] = {
    1: (loops.REFERENCE, loops.ACCELERATION, loops.SIGN, loops.TORQUE),
    2: (loops.REFERENCE, loops.ACCELERATION, loops.SIGN, loops.TORQUE, loops.DELAY),
}


def grid(order: Order) -> list[loops.Poles]:
    """Grid of poles to start from."""
    if order == 1:
        return [loops.Poles(float(p)) for p in ONE_POLE]
    found = []
    for p1 in TWO_POLES:
        for stiffness in STIFFNESS:
            found.append(loops.Poles(float(p1), float(stiffness * p1**2)))
    return found


@dataclass(frozen=True)
class ChosenLaw:
    """A structure of one drive and its cross-validation error.

    Attributes:
        order: Number of poles.
        side: Encoder of the position loop.
        terms: Numbers of the terms.
        start: Poles of the grid that fit best.
        squares: Squared error on each left-out part, without the first of each log, (parts,).
    """

    order: Order
    side: Side
    terms: Indices
    start: loops.Poles
    squares: Floats

    @property
    def left_out(self) -> float:
        """Squared error on all left-out parts."""
        return float(self.squares.sum())


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of products for one number of poles.

    Attributes:
        poles: Poles of the grid.
        parts: Sums of each pole and part, (poles, parts, k, k); columns are the terms, error,
            twist, then the free columns of each log.
        scored: Parts that count in the left-out error, (parts,).
    """

    poles: list[loops.Poles]
    parts: Floats
    scored: Flags

    def best(self, order: Order, side: Side, terms: Indices) -> ChosenLaw:
        """The best poles for given terms, and their error on left-out parts."""
        free = range(TWIST + 1, self.parts.shape[-1])
        used = [*terms, *free]
        whole = self.parts.sum(axis=1)
        kept = whole[:, None] - self.parts
        _, over_all = _solve(whole, used, side)
        theta, in_kept = _solve(kept, used, side)
        left_out = _squares(self.parts, used, side, theta)
        best = np.argmin(in_kept, axis=0)
        parts = np.arange(len(best))
        start = self.poles[np.argmin(over_all)]
        return ChosenLaw(order, side, terms, start, left_out[best, parts][self.scored])


def are_pooled(logs: Sequence[loops.DriveSignals] | Sequence[Signals]) -> bool:
    """Whether whole logs are left out in turn, and not parts of each.

    The free response of each log, of which little is known from any other, is then taken off.
    """
    return len(logs) >= PARTS


def part_numbers(logs: Sequence[loops.DriveSignals] | Sequence[Signals]) -> Integers:
    """The part to which each sample of the logs belongs, from 0 to PARTS - 1, (m,)."""
    if are_pooled(logs):
        lengths = [len(log.time) for log in logs]
        return np.repeat(np.arange(len(logs)) % PARTS, lengths)
    return np.concatenate([log.parts for log in logs])


def scored_samples(logs: Sequence[loops.DriveSignals] | Sequence[Signals]) -> Flags:
    """Samples that count in a left-out error, (m,).

    What a loop brings from before a log is unknown, and shows in the log's first part.
    """
    parts = part_numbers(logs)
    return np.ones(len(parts), dtype=bool) if are_pooled(logs) else parts != 0


def log_weights(logs: Sequence[loops.DriveSignals]) -> Floats:
    """Weight of each of many logs of one drive: one of far larger error does not decide alone."""
    sizes = np.array([log.error.std() for log in logs])
    usual = UNUSUAL * max(float(np.median(sizes)), 1e-12)
    return np.asarray(usual / np.maximum(sizes, usual))


def take_off_free(table: Floats, free: Floats) -> Floats:
    """Columns of one log without what its free response (m, k) explains of them."""
    Q, _ = np.linalg.qr(free)
    return np.asarray(table - Q @ (Q.T @ table))


def sums(logs: Sequence[loops.DriveSignals], poles: list[loops.Poles], sign_speed: float) -> Sums:
    """Sums of products of one drive over a grid of poles."""
    found = []
    for one in poles:
        found.append(np.array(list(_of_parts(logs, one, sign_speed))))
    parts = np.array(found)
    scored = np.ones(parts.shape[1], dtype=bool)
    if not are_pooled(logs):
        scored = np.arange(parts.shape[1]) % PARTS != 0
    return Sums(poles, parts, scored)


def _of_parts(
    logs: Sequence[loops.DriveSignals], poles: loops.Poles, sign_speed: float
) -> Iterator[Floats]:
    """Sums of products of each part of each log, (k, k)."""
    weights = log_weights(logs)
    for number, log in enumerate(logs):
        own = loops.free_columns(log.time, poles)
        twist = np.nan_to_num(log.twist)
        beside = loops.respond_to_encoder(poles, twist - twist[0], log.rate)
        table = np.column_stack([loops.columns(log, poles, sign_speed), log.error, beside])
        if are_pooled(logs):
            table = weights[number] * take_off_free(table, own)
            yield table.T @ table
            continue
        count = own.shape[1]
        free = np.zeros((len(own), count * len(logs)))
        free[:, number * count : (number + 1) * count] = own
        whole = np.column_stack([table, free])
        for part in range(PARTS):
            rows = whole[log.parts == part]
            yield rows.T @ rows


def _target(parts: Floats, side: Side) -> TwoArrays:
    """Products of all columns with the target, and of the target with itself.

    With a link encoder that is e + F twist, as the twist acts with a known gain.
    """
    across, itself = parts[..., ERROR], parts[..., ERROR, ERROR]
    if side == "link":
        across = across + parts[..., TWIST]
        itself = itself + 2 * parts[..., ERROR, TWIST] + parts[..., TWIST, TWIST]
    return across, itself


def _solve(parts: Floats, used: list[int], side: Side) -> TwoArrays:
    """Coefficients of the used columns, and their residual sum of squares."""
    across, itself = _target(parts, side)
    matrix = parts[..., used, :][..., used]
    sizes = np.sqrt(np.einsum("...ii->...i", matrix))
    sizes = np.where(sizes > 0, sizes, 1.0)
    scaled = matrix / (sizes[..., :, None] * sizes[..., None, :])
    scaled = scaled + RIDGE * np.eye(len(used))
    target = across[..., used] / sizes
    z = np.linalg.solve(scaled, target[..., None])[..., 0]
    return z / sizes, itself - np.einsum("...i,...i->...", z, target)


def _squares(parts: Floats, used: list[int], side: Side, theta: Floats) -> Floats:
    """Squared error of given coefficients."""
    across, itself = _target(parts, side)
    matrix = parts[..., used, :][..., used]
    explained = np.einsum("...i,...ij,...j->...", theta, matrix, theta)
    projected = np.einsum("...i,...i->...", theta, across[..., used])
    return itself - 2 * projected + explained


@dataclass(frozen=True, eq=False)
class Candidate:
    """A drive in all logs, the speed of its sign term, and the encoders its loop may close on."""

    logs: Sequence[loops.DriveSignals]
    sign_speed: float
    sides: Sequence[Side]


def with_structure(drives: Sequence[Candidate], known: Sequence[ChosenLaw]) -> list[ChosenLaw]:
    """A given structure with the poles that fit these signals best."""
    found = []
    for drive, one in zip(drives, known, strict=True):
        table = sums(drive.logs, grid(one.order), drive.sign_speed)
        found.append(table.best(one.order, one.side, one.terms))
    return found


def select_structure(drives: Sequence[Candidate], barred: Indices = ()) -> list[ChosenLaw]:
    """The structure of all drives: terms are added while one of them lowers the score.

    Args:
        drives: The drives.
        barred: Terms that are not tried.
    """
    best: list[ChosenLaw] = []
    orders: tuple[Order, ...] = (1, 2)
    for order in orders:
        tables = [sums(drive.logs, grid(order), drive.sign_speed) for drive in drives]
        optional = tuple(term for term in OPTIONAL[order] if term not in barred)
        found = _select_terms_forward(drives, tables, order, optional)
        if not best or _score(found) < _score(best):
            best = found
    return best


def keep_plain_laws(drives: Sequence[Candidate], chosen: Sequence[ChosenLaw]) -> list[ChosenLaw]:
    """The chosen laws, each where it gains on left-out parts over one of speed and acceleration.

    That has no pole: the error is θ_v v_ref + θ_a a_ref, which is all that short logs of small
    errors determine. One log of large errors that gains does not decide against all others.
    """
    found = []
    for drive, one in zip(drives, chosen, strict=True):
        table = sums(drive.logs, [loops.Poles(0.0)], drive.sign_speed)
        plain = table.best(1, "motor", (loops.SPEED, loops.ACCELERATION))
        gain = estimate_gain(plain.squares[:, None], one.squares[:, None])
        found.append(one if gain.is_common else plain)
    return found


def _score(chosen: Sequence[ChosenLaw]) -> float:
    """Selection criterion, lowest for the best: mean log left-out error plus a penalty."""
    first = chosen[0]
    extra = len(first.terms) + first.order - 1
    if first.order == 1 and loops.REFERENCE in first.terms:
        extra += OF_REFERENCE - 1
    errors = [np.log(max(one.left_out, 1e-300)) for one in chosen]
    return float(np.mean(errors) + extra * np.log1p(PENALTY))


def _select_terms_forward(
    drives: Sequence[Candidate], tables: Sequence[Sums], order: Order, optional: Indices
) -> list[ChosenLaw]:
    """Add terms one by one to speed, with and without load, while the left-out error falls."""
    starts = ((loops.LOAD, loops.SPEED), (loops.SPEED,))
    best = min((_with_terms(drives, tables, order, terms) for terms in starts), key=_score)
    while True:
        used = best[0].terms
        others = [term for term in (loops.LOAD, *optional) if term not in used]
        tried = [_with_terms(drives, tables, order, (*used, term)) for term in others]
        if not tried:
            return best
        better = min(tried, key=_score)
        if _score(better) >= _score(best):
            return best
        best = better


def _with_terms(
    drives: Sequence[Candidate], tables: Sequence[Sums], order: Order, terms: Indices
) -> list[ChosenLaw]:
    """All drives with given terms, each with the encoder of the lower left-out error."""
    found = []
    for drive, table in zip(drives, tables, strict=True):
        of_sides = [table.best(order, side, tuple(sorted(terms))) for side in drive.sides]
        found.append(min(of_sides, key=lambda one: one.left_out))
    return found
