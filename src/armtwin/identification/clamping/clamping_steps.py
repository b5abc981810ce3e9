"""Every step of the three methods of a clamping, as blocks of its report."""

from armtwin.identification.clamping.algorithm_one import AlgorithmOne, CurveParts
from armtwin.identification.clamping.algorithm_two import AlgorithmTwo
from armtwin.identification.clamping.curves import ClampingCurve as ClampingCurve
from armtwin.identification.clamping.hysteresis import torque_errors
from armtwin.identification.clamping.least_squares import LeastSquares
from armtwin.identification.clamping.record import ClampingRecord, TransmissionEstimate
from armtwin.maths.batch import Floats
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import Number

CHART_SAMPLES = 4000  # samples of a curve in a chart
SECONDS = Number(1.0, "s", digits=5)
ANGLE, TORQUE = show.Axis("motor angle", "rad"), show.Axis("motor torque", "N m")


def thin_curve(label: str, q: Floats, tau: Floats, colour: int) -> show.Curve:
    """Torque over angle, thinned to the samples of a chart."""
    step = max(1, len(q) // CHART_SAMPLES)
    return show.Curve(label, q[::step], tau[::step], colour=colour, dash="solid")


def build_measured_curve(record: ClampingRecord) -> show.Curve:
    """The measured curve."""
    return thin_curve("measured", record.q, record.tau, 6)


def _build_layer(label: str, curve: ClampingCurve, colour: int = 0) -> show.Curve:
    return thin_curve(label, curve.q, curve.tau, colour)


def clamping_curve(record: ClampingRecord, two: AlgorithmTwo) -> show.Blocks:
    """The measured curve, with the curves of Algorithm II."""
    layers: list[show.Layer] = [build_measured_curve(record)]
    if two.upper is not None and two.lower is not None:
        layers.append(_build_layer("upper and lower curve", two.upper, 1))
        layers.append(_build_layer("", two.lower, 1))
    caption = "Torque over motor angle, with the upper and lower curve of Algorithm II."
    yield show.Chart("Clamping curve", ANGLE, TORQUE, tuple(layers), caption)


def _notes(found: TransmissionEstimate) -> show.Blocks:
    for note in found.notes:
        yield show.Text(f"{note[0].upper()}{note[1:]}.")
    if found.refused:
        yield show.Text(f"{found.refused[0].upper()}{found.refused[1:]}")


def steps_of_one(one: AlgorithmOne) -> show.Blocks:
    """Curves separated, intervals, springs."""
    yield show.Text(
        "Positions as 10 000 channels, curves separated by lines through the mean torques of short "
        "intervals, 10 % cut at each end; the longest interval with less than half of the overall "
        "slope is the backlash, the interval beside it with less than the slope of the rest is "
        "nonlinear, straight lines through the rest are the springs.",
        "soft",
    )
    yield from _notes(one.found)
    if one.separated is not None:
        parted = one.separated
        layers = (
            _build_layer("upper curve", parted.upper, 1),
            _build_layer("lower curve", parted.lower, 0),
            _build_layer("separating lines", parted.separators, 2),
        )
        caption = "Samples above the lines form the upper curve, those below the lower one."
        yield show.Chart("Curves separated", ANGLE, TORQUE, layers, caption)
    yield from _both_intervals(one)


def _both_intervals(one: AlgorithmOne) -> show.Blocks:
    """The intervals of upper and lower curve, where there are any."""
    if one.upper is None or one.lower is None:
        return
    charts = []
    for title, parts in (("Upper curve", one.upper), ("Lower curve", one.lower)):
        charts.append(_intervals(title, parts))
    caption = "Backlash between the inner lines, nonlinear up to the outer ones, then springs."
    yield show.Multiples(tuple(charts), shared="xy", title="Intervals", caption=caption)


def _intervals(title: str, parts: CurveParts) -> show.Chart:
    curve = parts.curve
    layers: list[show.Layer] = [_build_layer("curve", curve)]
    places = {parts.left, parts.right}
    if parts.backlash is not None:
        places |= set(parts.backlash)
    for place in sorted(places):
        layers.append(show.Rule(float(curve.q[min(place, len(curve.q) - 1)]), on="x"))
    return show.Chart(title, ANGLE, TORQUE, tuple(layers))


def steps_of_two(two: AlgorithmTwo) -> show.Blocks:
    """The lower curve onto the upper one, merged, folded; or intervals as Algorithm I has them."""
    yield show.Text(
        "Half-cycles by the sign of the motion, turning regions and outliers cut, those whose line "
        "deviates by two standard deviations rejected twice, the rest merged to an upper and a "
        "lower curve; moved onto each other, merged, cut in the middle and folded.",
        "soft",
    )
    yield from _notes(two.found)
    if two.fallback is not None:
        yield from _both_intervals(two.fallback)
    if two.folded is None or two.upper is None or two.onto is None:
        return
    onto, upper = two.onto, _build_layer("upper", two.upper, 0)
    moved = "The lower curve moved so that the middles of the gaps coincide"
    pictures: dict[str, tuple[show.Layer, ...]] = {
        moved: (upper, _build_layer("lower, moved", onto.displaced, 1)),
        "Moved up by the mean distance": (upper, _build_layer("lower, moved", onto.lifted, 1)),
        "Both merged to one": (_build_layer("merged", onto.merged),),
    }
    charts = [show.Chart(title, ANGLE, TORQUE, layers) for title, layers in pictures.items()]
    half = show.Rule(float(two.flat * two.folded.step), "half of the backlash", on="x")
    from_middle = show.Axis("angle from the middle", "rad"), TORQUE
    folded = (_build_layer("folded", two.folded), half)
    charts.append(show.Chart("Cut in the middle and folded", *from_middle, folded))
    yield show.Multiples(tuple(charts), columns=2, shared="")


def half_cycles_of(record: ClampingRecord, two: AlgorithmTwo) -> show.Blocks:
    """Outcome of each half-cycle."""
    judged, time = two.judged, record.time
    parts = [one.half_cycle for one in judged]
    forward = [part.direction > 0 for part in parts]
    yield show.Table.of(
        number=(range(1, len(judged) + 1), "half-cycle", Number(digits=3)),
        from_s=(time[[part.start for part in parts]], "from", SECONDS),
        to_s=(time[[part.stop - 1 for part in parts]], "to", SECONDS),
        motor=(["forward" if is_so else "back" for is_so in forward], "motor turns"),
        samples=([one.samples for one in judged], "samples used", Number(digits=6)),
        slope=([one.slope for one in judged], "slope", Number(1.0, "N m/rad", digits=4)),
        outcome=([one.outcome for one in judged], "outcome"),
    )


def steps_of_squares(record: ClampingRecord, squares: LeastSquares) -> show.Blocks:
    """The fitted curve over the measured one, and the residual."""
    yield show.Text(
        "The hysteretic transmission fitted to all samples from the first turn to the last, with "
        "the settling of the clamp; distances are taken across the curve, large ones are "
        "down-weighted, half-cycles far from the rest are left out. Standard deviations from the "
        "spread of the half-cycles or the autocorrelation of the residual, whichever is larger.",
        "soft",
    )
    yield from _notes(squares.found)
    if squares.turns is None or squares.left is None:
        return
    step = max(1, len(squares.left) // CHART_SAMPLES)
    turns, theta = squares.turns, squares.theta
    if theta is not None:
        fitted = (turns.tau - torque_errors(theta, turns))[::step]
        over = (
            build_measured_curve(record),
            show.Points("fitted", turns.q[::step], fitted, shape="circle"),
        )
        yield show.Chart("Fitted over measured", ANGLE, TORQUE, over, "The samples that were used.")
    layers = (show.Points("distance", turns.q[::step], squares.left[::step], shape="circle"),)
    yield show.Chart(
        "Residual", ANGLE, show.Axis("distance from the curve", "N m"), layers, "Sample by sample."
    )
