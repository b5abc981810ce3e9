"""An identification: an estimate and its validation, with all that its report shows.

Evaluate an estimate: on a log it never saw, or each log predicted from the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.drives.friction.curves import breakaway
from armtwin.errors import ArmtwinError
from armtwin.files.digests import file_name
from armtwin.identification.plausibility.suspect import refuse_mistakes, weigh_torques
from armtwin.identification.rigid_body.data.clean_log import cut_middle
from armtwin.identification.rigid_body.data.log_checks import check_positions, same_log
from armtwin.identification.rigid_body.evaluation import (
    diagnostics,
    estimate as estimates,
    estimate_sections as parts,
    left_out_logs,
)
from armtwin.identification.rigid_body.friction.presliding import has_presliding
from armtwin.logs.joints import in_order_of, torque_channel
from armtwin.logs.log import Log
from armtwin.maths.batch import OnProgress, Record, TwoArrays
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import NEWTON_METRES, PER_HUNDRED
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.showing.overview import row_words

WORSE = 1.05  # times the prior's error from which on the validation has failed
HALF = 50.0  # mean NRMSE above which nothing is predicted [%]
BETTER = 0.9  # of the error of the robot file, up to which an estimate is called better


@dataclass(frozen=True, eq=False, repr=False)
class Identification(Result):
    """An estimate and its validation.

    Attributes:
        estimate: The identified robot.
        log: The log it was validated on, None where none was given.
        left_out: Each log predicted from the others, where no log was given to validate.
        models: Other models of the arm beside this one.
        unjudged: Why nothing could be left out, "" where something was.
    """

    estimate: estimates.Estimate
    log: Log | None = None
    left_out: left_out_logs.LeftOutPredictions | None = None
    models: left_out_logs.ModelsSideBySide | None = None
    unjudged: str = ""

    @cached_property
    def shown(self) -> Log:
        """The log whose torques are shown: that of the validation, else the first of the fit."""
        return self.fitted if self.log is None else self.log

    @cached_property
    def fitted(self) -> Log:
        """The first log of the fit, of a long one its middle."""
        first = self.estimate.logs[0]
        if len(first.time) <= left_out_logs.SAMPLES:
            return first
        return cut_middle(first, left_out_logs.SAMPLES / len(first.time))

    @cached_property
    def fit(self) -> estimates.Validation:
        """Prediction of the shown log by the identified robot."""
        return self.estimate.validate(self.shown)

    @cached_property
    def prior(self) -> estimates.Validation:
        """Prediction of the shown log by the robot as it was before."""
        return self.estimate.validate(self.shown, robot=self.estimate.prior)

    @cached_property
    def plain(self) -> estimates.Validation:
        """Prediction of the shown log by plain least squares."""
        return self.estimate.validate_plain(self.shown)

    @property
    def errors(self) -> TwoArrays | None:
        """NRMSE of identified robot and prior on what the fit never saw, (n,) each [%].

        None where all was fitted.
        """
        if self.log is not None:
            return self.fit.nrmse, self.prior.nrmse
        if self.left_out is not None:
            return self.left_out.nrmse, estimates.pool_nrmse(self.left_out.prior)
        return None

    @property
    def failed(self) -> bool:
        """Whether its error on unseen torque exceeds that of its file, or one half."""
        return self.is_worse or self.error_exceeds_half

    @property
    def is_worse(self) -> bool:
        """Whether the identified robot predicts the unseen worse than the robot file did."""
        errors = self.errors
        if errors is None:
            return False
        own, prior = errors
        return bool(np.nanmean(own) > WORSE * np.nanmean(prior))

    @property
    def error_exceeds_half(self) -> bool:
        """Whether the error on unseen torque exceeds one half, mean of the joints."""
        return self.errors is not None and bool(np.nanmean(self.errors[0]) > HALF)

    def sections(self) -> show.Report:
        """Errors, what was identified and what not, torques and parameters."""
        found, shown, prior = self.estimate, self.fit.over_time, self.prior
        sections = [
            show.Section("", _errors(self)),
            show.Section("What the logs do not identify", parts.identifiability_blocks(found)),
            show.Section("Torque, measured and predicted", _torques(self), page_only=True),
            show.Section("Friction", parts.friction_blocks(found, self.fitted), page_only=True),
            show.Section("Masses and centres", parts.link_blocks(found), page_only=True),
            show.Section("Parameters", parts.parameter_blocks(found)),
            show.Section("Singular values", parts.singular_blocks(found), page_only=True),
        ]
        if self.models is not None:
            models = left_out_logs.model_blocks(self.models, found.prior.joint_names)
            sections.append(show.Section("Models side by side", models))
        sections += [
            show.Section("Physical consistency", parts.consistency_blocks(found)),
            show.Section("Data and choices", parts.basis_blocks(found, self.log)),
        ]
        return show.Report(
            title=f"Identification of {found.prior.name}",
            subtitle=_subtitle(found),
            sections=tuple(sections),
            verdict=(_verdict(self),),
            series=shown.series | shown.sample("prior residual", prior.tau - prior.tau_hat),
        )


def describe_estimate(estimate: estimates.Estimate) -> show.Report:
    """What an identification shows that was not validated."""
    return Identification(estimate).sections()


def _verdict(result: Identification) -> show.Text:
    """How well an identified robot predicts."""
    errors = result.errors
    if errors is None:
        why = f" ({result.unjudged})" if result.unjudged else ""
        mean = float(np.nanmean(result.fit.nrmse))
        return show.Text(
            f"Fitted, not validated{why}: torque error on the first log {mean:.1f} %, "
            "mean of joints."
        )
    own, prior = (float(np.nanmean(x)) for x in errors)
    j = int(np.nanargmax(errors[0]))
    worst = result.estimate.prior.joint_names[j]
    beside = (
        f"torque error on {_unseen(result)} {own:.1f} % ({prior:.1f} % with the original file), "
        f"mean of joints; largest for {worst}, {errors[0][j]:.1f} %"
    )
    sentence, tone = _worth(result, own, prior)
    return show.Text(f"{sentence}: {beside}.", tone)


def _unseen(result: Identification) -> str:
    """What an estimate was validated on."""
    if result.log is not None:
        return "a log it never saw"
    if len(result.estimate.logs) == 1:
        return "parts of the log left out in turn"
    return "logs left out in turn"


def _worth(result: Identification, own: float, prior: float) -> tuple[str, show.Tone]:
    if result.is_worse:
        return "The identified robot is no better than its file", "bad"
    if result.error_exceeds_half:
        return "The identified robot does not predict its torque", "bad"
    if own > BETTER * prior:
        return "The identified robot predicts hardly better or worse than its file", ""
    return "The identified robot predicts better than its file", "good"


def _subtitle(found: estimates.Estimate) -> str:
    robot = found.prior.description.title or found.prior.name
    count = len(found.logs)
    logs = f"{count} log{'s' if count > 1 else ''}"
    torque = f"{found.torque_side} ({found.torque_source})"
    return f"{robot}: {logs}, {torque}, {found.recipe.estimator} estimate"


def _errors(result: Identification) -> show.Blocks:
    """Torque errors, joint by joint."""
    found = result.estimate
    yield show.Text(_settings(found))
    left_out = result.errors is not None and result.log is None
    shown = "validation" if result.log is not None else "first log"
    columns = show.list_columns(
        name="joint",
        nrmse_percent=(shown, PER_HUNDRED),
        nrmse_standing_percent=("at rest", PER_HUNDRED, show.PAGE_ONLY),
        nrmse_moving_percent=("moving", PER_HUNDRED, show.PAGE_ONLY),
        nrmse_plain_percent=("plain", PER_HUNDRED),
        nrmse_prior_percent=("prior", PER_HUNDRED),
    )
    if left_out:
        columns += show.list_columns(
            nrmse_unseen_percent=("left out", PER_HUNDRED),
            nrmse_unseen_prior_percent=("prior there", PER_HUNDRED, show.PAGE_ONLY),
        )
    columns += show.list_columns(
        rmse_n_m=("rms", NEWTON_METRES, show.PAGE_ONLY),
        max_n_m=("largest", NEWTON_METRES, show.PAGE_ONLY),
        residual_n_m=("residual", NEWTON_METRES),
    )
    joints = _joints(result)
    yield show.Data({"joints": joints})
    yield show.Table(columns, [*joints, _mean(joints)])
    if result.left_out is not None and result.left_out.share < 1:
        yield show.Text(
            "The logs are long: each part left out is predicted from the middle "
            f"{100 * result.left_out.share:.0f} % of the others, and of a log of more than 100 000 "
            "samples the middle is shown.",
            "soft",
        )
    yield show.Text(
        "Errors in %, 100 ‖τ - τ̂‖ / ‖τ‖ of the measured torque: identified robot, plain least "
        "squares and robot file (prior). The residual is the fit's."
    )
    if found.distrusted:
        yield show.Text(f"Plausibility check overridden by trust: {found.distrusted}.", "bad")
    yield show.Data({"distrusted": found.distrusted})
    if found.fall is not None and found.fall.base_is_tilted:
        yield show.Text(diagnostics.describe_gravity(found.fall))
    yield from show.list_sentences(
        diagnostics.explain_errors(found, result.shown, result.fit), "reasons"
    )
    yield from _data(result)


def _settings(found: estimates.Estimate) -> str:
    d, how = found.decomposition, found.cleaning[0]
    return (
        f"{found.torque_side} from {found.torque_source}, cut-off {how.cutoff:.4g} Hz, prior "
        f"weight {parts.WEIGHT.text(found.draw.weight)}, {d.kept} of {d.rank} parameter "
        "combinations identified to within 10 %"
    )


def _joints(result: Identification) -> list[Record]:
    """Errors of each joint."""
    found, fit = result.estimate, result.fit
    unknown = [None] * found.prior.n
    unseen, unseen_prior = result.errors or (unknown, unknown)
    still, moving = estimates.split_by_rest(fit, found.standing(result.shown))
    return show.tabulate(
        name=found.prior.joint_names,
        nrmse_percent=fit.nrmse,
        nrmse_standing_percent=still,
        nrmse_moving_percent=moving,
        nrmse_plain_percent=result.plain.nrmse,
        nrmse_prior_percent=result.prior.nrmse,
        nrmse_unseen_percent=unseen,
        nrmse_unseen_prior_percent=unseen_prior,
        rmse_n_m=fit.rmse,
        max_n_m=fit.max,
        residual_n_m=found.sigma,
        reversal_rad_s=found.reversal,
        gain_n_m_a=unknown if found.gains is None else found.gains,
    )


def _mean(joints: list[Record]) -> Record:
    """The means of the percentages, as one more row."""
    mean: dict[str, object] = {"name": "mean"}
    for key in joints[0]:
        values = [record[key] for record in joints]
        if key.endswith("_percent") and None not in values:
            mean[key] = float(np.nanmean(values))
    return mean


def _data(result: Identification) -> Iterator[show.Data]:
    """Further keys of result.json."""
    found, d = result.estimate, result.estimate.decomposition
    yield show.Data.of(
        robot=found.prior.name,
        tool=found.prior.description.mounted.tool,
        payload=found.prior.description.mounted.payload,
        torque={"source": found.torque_source, "side": found.torque_side},
        judged_on=_name_validation(result),
        unjudged=result.unjudged,
        failed=result.failed,
        cutoff_hz=found.cleaning[0].cutoff,
        presliding=list(_list_presliding(found)),
        decomposition={
            "rank": d.rank,
            "kept": d.kept,
            "rows": d.rows,
            "deviation": d.deviation,
            "singular_values": d.singular[: d.rank],
            "g": d.g[: d.rank],
        },
    )


def _list_presliding(found: estimates.Estimate) -> Iterator[Record]:
    """Friction elements with pre-sliding hysteresis, as identified."""
    for element in found.robot.description.active_friction():
        if has_presliding(element):
            yield {
                "element": element.name,
                "row": row_words(element.on),
                "distance_rad": element.radius,
                "level_n_m": breakaway(element.law),
            }


def _name_validation(result: Identification) -> str:
    if result.log is not None:
        return result.log.origin or "a log"
    return "left out in turn" if result.left_out is not None else "nothing unseen"


def _torques(result: Identification) -> show.Blocks:
    found = result.estimate
    where = file_name(result.shown.origin, "the log")
    seen = "to which it was fitted" if result.log is None else "which the fit never saw"
    yield show.Text(f"Shown: {where}, {seen}.")
    deviation = found.torque_deviation(result.shown)
    for j, name in enumerate(found.prior.joint_names):
        spread = float(np.sqrt((deviation[:, j] ** 2).mean()))
        of_file = show.Line("residual of the robot file", f"prior residual{j + 1}", 3, dashed=True)
        caption = (
            f"{name}: error {result.fit.nrmse[j]:.1f} %, {result.prior.nrmse[j]:.1f} % with the "
            f"robot file; standard deviation of the prediction {NEWTON_METRES.with_unit(spread)}."
        )
        yield result.fit.over_time.plot(j, f"{name} torque", caption, (of_file,))


def judge(
    robot: Robot,
    found: estimates.Estimate,
    log: Log | None = None,
    *,
    others: Mapping[str, Robot] | None = None,
    progress: OnProgress | None = None,
) -> Identification:
    """Evaluate an estimate.

    Args:
        robot: The robot that it started from.
        found: The estimate.
        log: A log that the fit never saw; without one each log, or part of a single one, is left
            out in turn.
        others: Other models of the same arm to be shown beside it.
        progress: Called with the share of the work that is done.
    """
    _check_arguments(robot, found, log)
    left_out, why = None, ""
    if log is None:
        try:
            left_out = left_out_logs.leave_one_out(robot, found, progress)
        except ArmtwinError as error:  # the fit itself is valid
            why = str(error)
    else:
        log = in_order_of(log, found.robot.joint_names)
        _check_unseen(found, log)
    beside = left_out_logs.side_by_side(found, others, log or found.logs[0]) if others else None
    return Identification(found, log, left_out, beside, why)


def _check_arguments(robot: Robot, found: estimates.Estimate, log: Log | None) -> None:
    """Refuse a robot that the estimate is not of."""
    if robot.joint_names != found.prior.joint_names:
        raise ArmtwinError(
            f"judge needs the robot that was identified, '{found.prior.name}', got '{robot.name}'"
        )


def _check_unseen(found: estimates.Estimate, log: Log) -> None:
    """Refuse a log that cannot be of the robot, or that was part of the fit, by its name."""
    name = log.origin or "the log to validate"
    try:
        _check_robot(found, log, name)
    except ArmtwinError as error:
        sentence = str(error)
        if not sentence.startswith(name):
            sentence = f"{name}: {sentence}"
        raise ArmtwinError(sentence) from None
    for known in found.logs:
        if same_log(log, known):
            raise ArmtwinError(
                f"{log.origin or 'the log'} was part of the fit; give one to validate that the "
                "fit never saw"
            )


def _check_robot(found: estimates.Estimate, log: Log, name: str) -> None:
    """Refuse positions or torques that are not those of the robot."""
    recipe = found.recipe.for_prediction()
    check_positions(found.robot, log, recipe.position_channel, name)
    refuse_mistakes(
        weigh_torques(found.robot, [log], torque_channel(log, found.torque_source), recipe)
    )
