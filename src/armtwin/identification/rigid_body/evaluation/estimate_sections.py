"""Sections of an estimate: what the logs identify and what not, and all parameters.

Data and choices of an estimate: its logs, the weight of the prior, its recipe.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from armtwin.files.digests import digest_of, file_name
from armtwin.files.versions import versions
from armtwin.identification.fitting.decomposition import RELATIVE_ERROR, FittedParameter
from armtwin.identification.fitting.estimate import student
from armtwin.identification.fitting.regularisation import Regularisation
from armtwin.identification.rigid_body.evaluation import diagnostics
from armtwin.identification.rigid_body.evaluation.estimate import Estimate
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, Record
from armtwin.notebook import sections as show
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.drawings import matrix
from armtwin.notebook.layers import Curve, Points, Rule
from armtwin.notebook.numbers import DEVIATION, PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.robot.robot import Robot
from armtwin.robot.schema.mounting import format_gravity

SHOWN_CHANGES = 12  # parameters shown unfolded
SHOWN_IN_V = 0.125  # size of an element of V that is drawn, as in figure 4.13 of [Waiboer 2007]
BINS = 40  # of a joint's speeds, each with as many samples
LEAST_IN_BIN = 5
CURVE = 201  # speeds at which a friction law is drawn
BESIDE = 0.08  # of the distance of two parameters in a chart, by which before and after are apart
SHARE = Number(places=2)
CHANGE = Number(100.0, "%", places=0, signed=True)
CENTRE = Number(1e3, "mm")


def identifiability_blocks(found: Estimate) -> show.Blocks:
    """What the logs do not identify, and the combinations that are identifiable."""
    everything = "These logs identify every identifiable parameter."
    yield from show.list_sentences(diagnostics.list_unidentified(found), "not_told", everything)
    counts = Counter(row.group for row in found.table)
    yield show.Text(
        f"Of {len(found.table)} parameters {counts['alone']} are identifiable alone, "
        f"{counts['combined']} only in combination and {counts['none']} not at all; "
        f"{found.structure.rank} base parameters span all of them. These logs identify "
        f"{found.decomposition.kept} parameter combinations to within 10 %.",
        "soft",
    )
    folded = "Base parameters as combinations"
    yield show.Table.of("", folded, text=(found.base, "base parameters"))
    yield show.Data({"base": found.base})


def friction_blocks(found: Estimate, log: Log) -> show.Blocks:
    """Friction torque of each joint over its speed: log, fit and robot file."""
    v, torque = found.friction_in(log)
    charts = []
    for j, name in enumerate(found.prior.joint_names):
        speeds = np.linspace(v[:, j].min(), v[:, j].max(), CURVE)
        seen = _average_bins(v[:, j], torque[:, j])
        layers = (
            Points("log", seen[:, 0], seen[:, 1], y_error=seen[:, 2], shape="circle", colour=6),
            Curve("identified", speeds, _alone(found.robot, j, speeds), colour=0, dash="solid"),
            Curve("robot file", speeds, _alone(found.prior, j, speeds), colour=3, dash="dashed"),
        )
        charts.append(Chart(name, Axis("speed", "rad/s"), Axis("friction", "N m"), layers))
    yield Multiples(
        tuple(charts),
        columns=3,
        shared="",
        title="Friction over speed",
        caption=(
            "Points: torque of the first fitted log less the identified rigid body's, mean and "
            "standard deviation of samples of like speed. Curves: the friction of the joint moving "
            "alone; where friction acts on several joints together, points need not lie on them."
        ),
    )


def _average_bins(v: Floats, torque: Floats) -> Floats:
    """Mean speed, mean torque and its deviation in bins of as many samples each, (bins, 3)."""
    order = np.argsort(v, kind="stable")
    rows = []
    for some in np.array_split(order, BINS):
        if len(some) >= LEAST_IN_BIN:
            rows.append((v[some].mean(), torque[some].mean(), torque[some].std()))
    return np.array(rows).reshape(-1, 3)


def _alone(robot: Robot, j: int, speeds: Floats) -> Floats:
    """Friction torque of a joint that moves alone."""
    v = np.zeros((len(speeds), robot.n))
    v[:, j] = speeds
    return robot.friction_torque(v, np.zeros_like(v))[:, j]


def link_blocks(found: Estimate) -> show.Blocks:
    """Mass and centre of each link before and after."""
    links = found.prior.assembly.tree.joints
    masses = [found.table[found.prior.layout.link(k)][0] for k in range(len(links))]
    heaviest = 1.15 * max(max(row.prior, row.value) for row in masses)
    yield Chart(
        "Mass of each link",
        Axis("link"),
        Axis("mass", "kg", span=(0.0, heaviest)),
        _before_and_after(masses, [joint.child for joint in links], np.ones(len(links))),
        "With 95 % intervals; what is not identified stays as in the robot file.",
    )
    columns = show.list_columns(
        link="link", mass_prior_kg=("mass before kg", PLAIN), mass_kg=("after kg", PLAIN)
    )
    for axis in "xyz":
        heads = {f"{axis}_prior_m": f"centre {axis} before", f"{axis}_m": "after"}
        columns += show.Column.alike(CENTRE, **heads)
    records = [_link(found, k) for k in range(len(links))]
    yield show.Table(columns, records, "links", folded="Mass and centre before and after")


def _link(found: Estimate, k: int) -> Record:
    """Mass and centre of link k."""
    mass, *moments = found.table[found.prior.layout.link(k)][:4]
    record: Record = {"link": found.prior.assembly.tree.joints[k].child}
    record |= {"mass_prior_kg": mass.prior, "mass_kg": mass.value, "mass_std_kg": mass.std}
    for axis, moment in zip("xyz", moments, strict=True):
        record[f"{axis}_prior_m"] = moment.prior / mass.prior if mass.prior else None
        record[f"{axis}_m"] = moment.value / mass.value if mass.value else None
    return record


def parameter_blocks(found: Estimate) -> show.Blocks:
    """Every parameter before and after."""
    gains = ""
    if found.gains is not None:
        gains = " They include the uncertainty of the drive gains identified with them."
    yield show.Text(
        "From logs: the share of a value that the logs determine, the rest is the robot file's. "
        "To 10 %: the share of the parameter in combinations that the logs identify to within "
        "10 % of its size in the robot file. Standard deviations count the robot file as prior "
        f"knowledge; they are {found.inflation:.1f} times those of independent rows, from the "
        f"scatter of estimates with parts left out.{gains}",
        "soft",
    )
    columns = show.list_columns(
        name="parameter",
        prior=("prior", PLAIN),
        value=("estimate", PLAIN),
        std=("std", DEVIATION),
        change=("change", _change, show.PAGE_ONLY),
        group=("identifiable", None, show.PAGE_ONLY),
        from_logs=("from logs", SHARE),
        told=("to 10 %", SHARE, show.PAGE_ONLY),
        unit="unit",
    )
    yield show.Text("Largest changes in standard deviations:")
    moved = sorted(found.table, key=_change_in_deviations, reverse=True)
    yield show.Table(columns, [asdict(row) for row in moved[:SHOWN_CHANGES]])
    yield _parameter_chart(found)
    everything = f"All {len(found.table)} parameters"
    yield show.Table(columns, [asdict(row) for row in found.table], "parameters", folded=everything)


def _parameter_chart(found: Estimate) -> Chart:
    """Parameters that were free to change, before and after."""
    free = np.flatnonzero(found.free)
    rows = [found.table[k] for k in free]
    return Chart(
        "Free parameters over their sizes in the robot file",
        Axis("parameter"),
        Axis("value over size"),
        _before_and_after(rows, [row.name for row in rows], found.decomposition.free.sizes[free]),
        "With 95 % intervals.",
    )


def _before_and_after(
    rows: Sequence[FittedParameter], names: Sequence[str], sizes: Floats
) -> tuple[Points, Points]:
    """Points of the robot file and of the estimate beside each other, over sizes (p,)."""
    numbers = np.arange(1.0, len(rows) + 1)
    prior = np.array([row.prior for row in rows]) / sizes
    value = np.array([row.value for row in rows]) / sizes
    half_width = student(np.inf) * np.array([row.std for row in rows]) / sizes
    return (
        Points("robot file", numbers - BESIDE, prior, shape="square", colour=3, names=names),
        Points("identified", numbers + BESIDE, value, y_error=half_width, colour=0, names=names),
    )


def _change_in_deviations(row: FittedParameter) -> float:
    """By how many standard deviations a parameter changed."""
    return abs(row.value - row.prior) / max(row.std, 1e-300)


def _change(record: Record) -> str:
    """Change of a value in percent of its size before."""
    before = record["prior"]
    if before == 0:
        return ""
    change = (record["value"] - before) / abs(before)
    return CHANGE.with_unit(change)


def singular_blocks(found: Estimate) -> show.Blocks:
    """Singular values of the regression, and which parameters each direction holds."""
    d = found.decomposition
    r = d.rank
    rule = d.deviation / RELATIVE_ERROR
    directions = np.arange(1.0, r + 1)
    layers = (
        Points("singular values", directions, d.singular[:r]),
        Curve("what each direction explains, |g|", directions, np.abs(d.g[:r]), dash="solid"),
        Rule(rule, "ten times the residual"),
        Rule(d.kept + 0.5, f"{d.kept} of {r} identified to 10 %", on="x"),
    )
    yield Chart(
        "Singular values",
        Axis("direction"),
        Axis("singular value", logarithmic=True),
        layers,
        f"Of the scaled regression ({d.rows} rows); those above the dashed line give their "
        "direction to 10 %.",
    )
    yield _residuals(found)
    if found.recipe.estimator == "truncated":
        yield _essential_chart(found)
    names = []
    for column in d.free.basis.T:
        names.append(found.table[int(np.argmax(column))].name)
    yield show.Picture(
        matrix(d.V[:, :r], names, SHOWN_IN_V, "Which parameters each singular direction holds"),
        f"Which parameters each direction holds: elements of V from {SHOWN_IN_V} on, two colours "
        "for the two signs; parameters down, directions across.",
    )


def _residuals(found: Estimate) -> Chart:
    """Residual sum of squares over the number of directions, as figure 4.6 of [Waiboer 2007]."""
    d = found.decomposition
    counts = np.arange(0.0, d.rank + 1)
    share = d.residuals / d.residuals[0]
    layers = (Points("", counts, share), Rule(d.kept, f"{d.kept} identified to 10 %", on="x"))
    axes = Axis("directions"), Axis("share of squares", logarithmic=True)
    return Chart("Residual against the number of directions", *axes, layers)


def _essential_chart(found: Estimate) -> Chart:
    """What the directions kept hold of each parameter, as figure 4.8 of [Waiboer 2007]."""
    d = found.decomposition
    rows = [found.table[int(np.argmax(column))] for column in d.free.basis.T]
    names = [row.name for row in rows]
    sizes = d.free.sizes[d.free.basis.argmax(axis=0)]
    numbers = np.arange(1.0, len(rows) + 1)
    prior = np.array([row.prior for row in rows]) / sizes
    kept = d.V[:, : found.recipe.kept or d.kept]
    essential = kept @ (kept.T @ (np.array([row.value for row in rows]) / sizes))
    layers = (
        Points("robot file", numbers, prior, shape="square", colour=3, names=names),
        Points("in the directions kept", numbers, essential, colour=0, names=names),
    )
    caption = "The rest of a parameter, in the other directions, is the robot file's."
    axes = Axis("parameter"), Axis("value over size")
    return Chart("Parameters in the directions kept", *axes, layers, caption)


def consistency_blocks(found: Estimate) -> show.Blocks:
    """Physical consistency of the robot, and what plain least squares would violate."""
    yield show.Data({"broken_by_plain": found.broken})
    if found.recipe.estimator == "consistent":
        yield show.Text(
            "All inertias are physically consistent; rotor inertias and friction are at least 0."
        )
    if found.consistency_cost is not None:
        share = found.consistency_cost.share
        does = "raise" if share >= 0 else "lower"
        yield show.Text(
            f"The physical-consistency constraints {does} the error on left-out parts by "
            f"{100 * abs(share):.2g} %."
        )
        yield show.Data({"contracts": asdict(found.consistency_cost)})
    if not found.broken:
        yield show.Text("Plain least squares on the same rows is physically consistent as well.")
        return
    yield show.Text("Plain least squares on the same rows violates physical consistency:")
    yield show.Table(
        show.list_columns(text="violated constraint"), show.tabulate(text=found.broken), most=3
    )


WEIGHT = Number(digits=2)
ERROR_SHARE = Number(100.0, "%", places=2)
STAMPS = {True: "put on an even grid", False: "even"}
KINDS = {"fourier": "Fourier series", "central": "central differences"}


def basis_blocks(found: Estimate, log: Log | None) -> show.Blocks:
    """The logs and how they were cleaned, the weight of the prior, the recipe, versions.

    Args:
        found: The estimate.
        log: The log that it was validated on, None without one.
    """
    yield from _show_logs(found)
    yield from _show_trials(found)
    yield from _gravity(found)
    yield from _show_regularisation(found)
    widths = ", ".join(f"{np.degrees(width):.3g}" for width in found.reversal)
    yield show.Text(
        f"Speeds about a reversal within which the sign of friction is uncertain, °/s: {widths}.",
        "soft",
    )
    yield show.Text(f"Recipe: {_recipe(found)}.", "soft")
    yield show.Data({"recipe": vars(found.recipe)})
    used = versions()
    yield show.Table.of("", "Versions", package=(used, "version"), number=(used.values(), ""))
    yield show.Data({"provenance.inputs_sha256": _inputs(found, log), "provenance.versions": used})


def _recipe(found: Estimate) -> str:
    """The choices that differ from their default."""
    usual = vars(Recipe())
    choices = []
    for key, value in vars(found.recipe).items():
        if value != usual[key]:
            choices.append(f"{key} {value}")
    return ", ".join(choices) or "the default"


def _show_trials(found: Estimate) -> show.Blocks:
    """Cut-offs and friction terms that were tried on left-out parts."""
    cutoffs = {f"{cutoff:g} Hz": error for cutoff, error in found.tried.errors.items()}
    if cutoffs:
        yield show.Text(
            f"Cut-off {found.cutoff:g} Hz: the highest of those that predict the torque, as "
            "measured, of left-out parts best.",
            "soft",
        )
    terms = {words: error for words, error in found.friction.errors.items() if np.isfinite(error)}
    for key, tried, errors in (
        ("cutoffs", "Cut-offs", cutoffs),
        ("friction", "Friction terms", terms),
    ):
        missed = (errors.values(), "error of left-out torque", ERROR_SHARE)
        folded = f"{tried} that were tried"
        yield show.Table.of(f"{key}_tried", folded, tried=(errors, "tried"), missed=missed)


def _gravity(found: Estimate) -> show.Blocks:
    """The direction of gravity, by the file and by the logs."""
    direction, gravity = found.fall, found.prior.description.gravity
    if direction is None:
        yield show.Text(
            f"Gravity as in the robot file: {format_gravity(gravity)} m/s² in the base.", "soft"
        )
        yield show.Data({"gravity": {"file_m_s2": gravity, "taken": False}})
        return
    yield show.Text(diagnostics.describe_gravity(direction), "soft")
    yield show.Data.of(
        gravity={
            "file_m_s2": direction.file,
            "logs_m_s2": direction.logs,
            "std_m_s2": direction.deviation,
            "angle_rad": direction.angle,
            "angle_std_rad": direction.angle_deviation,
            "from_logs": direction.share,
            "taken": direction.base_is_tilted,
        }
    )


def _show_regularisation(found: Estimate) -> show.Blocks:
    """How strongly the parameters were regularised towards the robot file."""
    regularisation = found.draw
    how = "as given"
    if found.recipe.weight is None:
        how = (
            "the least error on left-out parts; sizes of friction parameters times "
            f"{regularisation.family_size:g}"
        )
    yield show.Text(f"Prior weight: {WEIGHT.text(regularisation.weight)}, {how}.", "soft")
    if regularisation.errors:
        yield _weight_chart(regularisation)
    tried = show.tabulate(weight=regularisation.errors, error=regularisation.errors.values())
    size = regularisation.family_size
    yield show.Data(
        {"draw": {"weight": regularisation.weight, "friction_size": size, "tried": tried}}
    )


def _weight_chart(regularisation: Regularisation) -> Chart:
    """Error of left-out parts over the weight of the prior."""
    weights = np.array(list(regularisation.errors))
    errors = np.array(list(regularisation.errors.values()))
    layers = (
        Curve("", weights, errors, colour=0, dash="solid"),
        Points("error of left-out parts", weights, errors, colour=0),
        Rule(regularisation.weight, "chosen", on="x"),
    )
    return Chart(
        "Prior weight",
        Axis("weight", logarithmic=True),
        Axis("error", logarithmic=True),
        layers,
        "Squared error of left-out parts over that of a fit to all; the lowest is taken.",
    )


def _show_logs(found: Estimate) -> show.Blocks:
    """The logs, and how each was cleaned."""
    records: list[Record] = []
    for log, how in zip(found.logs, found.cleaning, strict=True):
        record = {"file": log.origin, "samples": len(log.time), "sha256": digest_of(log.origin)}
        records.append({**record, "cleaning": asdict(how)})
    columns = show.list_columns(
        file=("log", lambda record: file_name(record["file"], "a log")),
        samples=("samples", Number(digits=9)),
        rate=("rate Hz", _cleaned(lambda how: f"{how['rate'] * how['averaged']:.5g}")),
        cutoff=("cut-off Hz", _cleaned(lambda how: f"{how['cutoff']:.4g}")),
        rows=(
            "rows a second",
            _cleaned(lambda how: f"{how['rate'] / how['step']:.4g}"),
            show.PAGE_ONLY,
        ),
        stamps=("stamps", _cleaned(lambda how: STAMPS[how["resampled"]]), show.PAGE_ONLY),
        kind=(
            "differentiation",
            _cleaned(lambda how: KINDS[how["differentiation"]]),
            show.PAGE_ONLY,
        ),
        wild=("outliers", _cleaned(lambda how: str(how["replaced"]))),
    )
    yield show.Table(columns, records, "logs")


def _cleaned(words: show.Wording) -> show.Wording:
    """Words of how a log was cleaned."""
    return lambda record: words(record["cleaning"])


def _inputs(found: Estimate, log: Log | None) -> dict[str, str | None]:
    """Digests of robot file and validation log."""
    digests = {"robot file": digest_of(found.prior.origin)}
    if log is not None:
        digests["validation log"] = digest_of(log.origin)
    return digests
