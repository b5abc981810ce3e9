"""Data and choices of an estimate: its logs, the weight of the prior, its recipe."""

from dataclasses import asdict

import numpy as np

from armtwin.files.digests import digest_of, file_name
from armtwin.files.versions import versions
from armtwin.identification.fitting.regularisation import Regularisation
from armtwin.identification.rigid_body.evaluation.diagnostics import describe_gravity
from armtwin.identification.rigid_body.evaluation.estimate import Estimate
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.log import Log
from armtwin.maths.batch import Record
from armtwin.notebook import sections as show
from armtwin.notebook.charts import Chart
from armtwin.notebook.layers import Curve, Points, Rule
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.robot.schema.mounting import format_gravity

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
    columns = show.list_columns(package="version", number="")
    records = show.tabulate(package=used, number=used.values())
    yield show.Table(columns, records, folded="Versions")
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
    columns = show.list_columns(tried="tried", missed=("error of left-out torque", ERROR_SHARE))
    records = show.tabulate(tried=cutoffs, missed=cutoffs.values())
    yield show.Table(columns, records, "cutoffs_tried", folded="Cut-offs that were tried")
    terms = {words: error for words, error in found.friction.errors.items() if np.isfinite(error)}
    records = show.tabulate(tried=terms, missed=terms.values())
    yield show.Table(columns, records, "friction_tried", folded="Friction terms that were tried")


def _gravity(found: Estimate) -> show.Blocks:
    """The direction of gravity, by the file and by the logs."""
    direction, gravity = found.fall, found.prior.description.gravity
    if direction is None:
        yield show.Text(
            f"Gravity as in the robot file: {format_gravity(gravity)} m/s² in the base.", "soft"
        )
        yield show.Data({"gravity": {"file_m_s2": gravity, "taken": False}})
        return
    yield show.Text(describe_gravity(direction), "soft")
    yield show.Data(
        {
            "gravity": {
                "file_m_s2": direction.file,
                "logs_m_s2": direction.logs,
                "std_m_s2": direction.deviation,
                "angle_rad": direction.angle,
                "angle_std_rad": direction.angle_deviation,
                "from_logs": direction.share,
                "taken": direction.base_is_tilted,
            }
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
