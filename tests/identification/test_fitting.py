"""The fitting core on made-up linear problems with known answers: no robot, no log."""

from dataclasses import fields

import numpy as np
import pytest

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.factors import factorise, merge_factors
from armtwin.identification.fitting.free_directions import free_directions
from armtwin.identification.fitting.least_squares import covariance, fit
from armtwin.identification.fitting.left_out import prepare_left_out_parts
from armtwin.identification.fitting.parameter_fit import Unknowns, fit_parameters
from armtwin.identification.fitting.regularisation import WEIGHTS, fit_regularised
from armtwin.identification.fitting.robust import huber_weights, refit_robustly
from armtwin.identification.fitting.rows import RegressionRows
from armtwin.identification.fitting.scatter import estimate_scatter, jackknife
from armtwin.identification.fitting.squares import compute_squares

NAMES = ("stiffness", "damping", "level", "offset")
UNITS = ("N m/rad", "N m s/rad", "N m", "N m")
TRUTH = np.array([3.0, 0.5, 2.0, -1.0])
PRIOR = np.array([2.5, 0.7, 1.5, -1.4])
NOISE = np.array([0.2, 5.0])  # of two channels


def experiment(seed, rows=600):
    """Columns (k, 2, 4) and a target (k, 2) with noise that differs 25 times between channels."""
    chance = np.random.default_rng(seed)
    columns = chance.normal(size=(rows, 2, 4))
    return columns, columns @ TRUTH + NOISE * chance.normal(size=(rows, 2))


UNKNOWNS = {field.name for field in fields(Unknowns)}


def fit_of(columns, target, **options):
    asked = {"names": NAMES, "units": UNITS, "prior": PRIOR, **options}
    unknowns = Unknowns(**{key: asked.pop(key) for key in UNKNOWNS & asked.keys()})
    return fit_parameters(columns, target, unknowns, **asked)


def stds(found):
    return np.array([parameter.std for parameter in found.table])


def test_standard_deviations_hold_the_truth_as_often_as_they_say():
    """Two hundred experiments: scores have a spread of one, and 95 % lie within 1.96 of it."""
    scores = []
    for seed in range(200):
        found = fit_of(*experiment(seed))
        scores.append((found.values - TRUTH) / stds(found))
    spread = np.sqrt((np.array(scores) ** 2).mean(axis=0))
    assert spread == pytest.approx(1.0, abs=0.15)  # 200 scores give a spread to 5 %, thrice that
    assert (np.abs(scores) < 1.96).mean() == pytest.approx(0.95, abs=0.025)  # 800 to 0.8 %


def test_the_scatter_of_parts_is_that_of_the_estimate_whatever_each_part_shows():
    """Six parts, of which one holds most of what is told of each parameter.

    Rows err alone, so that the deviations of a fit that takes them so are right and need no factor;
    the plain jackknife asks for more than one.
    """
    asked, plain = [], []
    for seed in range(150):
        chance = np.random.default_rng(seed)
        columns = chance.normal(size=(360, 1, 4))
        for k in range(4):
            columns[60 * k : 60 * (k + 1), :, k] *= 6.0
        target = columns @ TRUTH + chance.normal(size=(360, 1))
        rows = RegressionRows(
            columns[:, 0], np.ones((1, 4), dtype=bool), target, np.ones((360, 1), bool)
        )
        parts = [factorise(part, np.eye(4)) for part in rows.in_parts(6)]
        drawn = fit_regularised(parts, free_directions(PRIOR, PRIOR), np.zeros(4, bool), 1e-9)
        apart = estimate_scatter(drawn).apart
        white = np.diag(covariance(drawn.fit, drawn.free, 1.0))
        asked.append((apart**2).sum(axis=0) / white)
        values = []
        for rest in drawn.others:
            values.append(drawn.free.parameters(fit(rest, drawn.free, 1e-9, drawn.sigma).z))
        plain.append(jackknife(np.array(values)).diagonal() / white)
    assert np.mean(asked, axis=0) == pytest.approx(1.0, abs=0.3)  # 150 of 1 to 3 parts: to a tenth
    assert np.mean(plain, axis=0).min() > 2.0


def test_squares_of_parts_give_the_fits_that_their_rows_give():
    """Left-out parts by squares with coordinates eliminated, and by a fit to the other rows."""
    columns, target = experiment(5, rows=240)
    every = RegressionRows(
        columns.reshape(240, 8), np.ones((2, 4), bool), target, np.ones((240, 2), bool)
    )
    pieces = list(enumerate(every.in_parts(6)))
    some = compute_squares(iter(pieces), 6, every.busy, np.eye(4))
    free = free_directions(PRIOR, np.abs(PRIOR))
    parts = prepare_left_out_parts(some, free, NOISE, 1e-4, always=2)
    for more in ((), (1,), (0, 1)):
        used = [0, 1, *(2 + k for k in more)]
        missed = parts.missed(more)
        for k, (_, left) in enumerate(pieces):
            rest = [rows for i, rows in pieces if i != k]
            A = np.concatenate([rows.Y.reshape(-1, 2, 4) for rows in rest])
            b = np.concatenate([rows.target for rows in rest]) - A @ PRIOR
            A = (A * np.abs(PRIOR))[:, :, used] / (NOISE[:, None] * np.sqrt(480))
            normal = np.einsum("kja,kjb->ab", A, A) + 1e-4 * np.eye(len(used))
            right = np.einsum("kja,kj->a", A, b / (NOISE * np.sqrt(480)))
            phi = PRIOR.copy()
            phi[used] += np.abs(PRIOR)[used] * np.linalg.solve(normal, right)
            gap = left.target - left.Y.reshape(-1, 2, 4) @ phi
            assert missed[k] == pytest.approx((gap**2).sum(axis=0), rel=1e-9)
    whole = merge_factors([factorise(part, np.eye(4)) for _, part in pieces])
    assert some.whole().squares(TRUTH) == pytest.approx(whole.squares(TRUTH), rel=1e-9)
    assert some.power == pytest.approx(whole.target_squares(), rel=1e-12)


def test_channels_count_by_their_own_noise():
    """The answer is that of weights by the true noise, which the fit has to find by itself."""
    columns, target = experiment(1)
    weighted = (columns / NOISE[:, None]).reshape(-1, 4)
    best = np.linalg.lstsq(weighted, (target / NOISE).ravel(), rcond=None)[0]
    found = fit_of(columns, target, weight=1e-9)
    assert np.abs(found.values - best).max() < 0.05 * stds(found).min()
    assert found.residual == pytest.approx(NOISE, rel=0.1)  # 600 samples give a noise to 3 %


def test_rows_that_are_said_twice_tell_no_more_than_once():
    columns, target = experiment(2)
    once = fit_of(columns, target, weight=1e-6)
    twice = fit_of(
        np.repeat(columns, 2, axis=0), np.repeat(target, 2, axis=0), weight=1e-6, independent=0.5
    )
    assert twice.values == pytest.approx(once.values, rel=1e-9)
    assert stds(twice) == pytest.approx(stds(once), rel=1e-9)


def test_a_parameter_without_a_column_stays_at_the_prior_and_says_so():
    columns, target = experiment(3)
    columns[:, :, 1] = 0.0
    silent = fit_of(columns, target).table[1]
    assert silent.value == pytest.approx(PRIOR[1], rel=1e-12)
    assert silent.group == "none"
    assert [silent.told, silent.from_logs] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_of_two_parameters_in_one_sum_the_data_tell_the_sum_and_the_prior_the_split():
    """Columns alike: φ₁ and φ₂ change in proportion to the squares of their sizes."""
    columns, target = experiment(4)
    target -= columns[:, :, 1] * TRUTH[1] - columns[:, :, 0] * TRUTH[1]
    columns[:, :, 1] = columns[:, :, 0]
    found = fit_of(columns, target, weight=1e-6)
    first, second = found.table[:2]
    assert (first.group, second.group) == ("combined", "combined")
    assert found.structure.rank == 3
    sum_std = np.sqrt(found.covariance[:2, :2].sum())
    assert abs(first.value + second.value - TRUTH[:2].sum()) < 3 * sum_std
    assert sum_std < 0.01 * min(first.std, second.std)
    change = found.values[:2] - PRIOR[:2]
    assert change[0] / change[1] == pytest.approx((PRIOR[0] / PRIOR[1]) ** 2, rel=1e-3)
    share = PRIOR[:2] ** 2 / (PRIOR[:2] ** 2).sum()
    assert [first.from_logs, second.from_logs] == pytest.approx(share, rel=1e-3)
    assert [first.told, second.told] == pytest.approx(share, rel=1e-3)


def test_a_direction_lost_in_noise_is_not_told_to_a_tenth():
    """Two columns that differ by a thousandth: the deviation of their split is above its size."""
    chance = np.random.default_rng(5)
    columns = chance.normal(size=(400, 1, 4))
    columns[:, :, 1] = columns[:, :, 0] + 1e-3 * columns[:, :, 1]
    target = columns @ TRUTH + 0.1 * chance.normal(size=(400, 1))
    found = fit_of(columns, target)
    assert (found.decomposition.rank, found.decomposition.kept) == (4, 3)
    assert found.table[0].told + found.table[1].told == pytest.approx(1.0, abs=0.01)
    assert found.table[2].told == pytest.approx(1.0, abs=0.01)
    plain = np.linalg.lstsq(columns[:, 0], target[:, 0], rcond=None)[0]
    assert np.linalg.norm(found.values - TRUTH) < 0.3 * np.linalg.norm(plain - TRUTH)


def test_errors_of_two_parts_left_out_are_those_of_two_fits_by_hand():
    """Each half predicted by ridge regression on the other half, for every weight tried."""
    columns, target = experiment(6, rows=60)
    found = fit_of(columns, target, parts=2)
    plain = fit_of(columns, target, weight=1e-8)  # its residuals are the weights of the channels
    halves = [(columns[:30], target[:30]), (columns[30:], target[30:])]
    for weight in WEIGHTS[::6]:
        error = 0.0
        for (Y, y), (Y_left, y_left) in (halves, halves[::-1]):
            A = (Y * PRIOR / plain.residual[:, None]).reshape(-1, 4)
            b = ((y - Y @ PRIOR) / plain.residual).ravel()
            z = np.linalg.solve(A.T @ A + weight * len(b) * np.eye(4), A.T @ b)
            gap = y_left - Y_left @ (PRIOR + PRIOR * z)
            error += ((gap / plain.residual) ** 2).sum(axis=0).mean() / 60
        assert found.draw.errors[float(weight)] == pytest.approx(error, rel=1e-5)
    assert found.draw.weight == min(found.draw.errors, key=found.draw.errors.get)


def test_few_noisy_rows_are_drawn_to_a_good_prior_and_not_to_a_bad_one():
    """Thirty experiments of 24 rows: the good prior wins over the rows, the bad one never does."""
    weights, errors, shares = [], [], []
    for seed in range(30):
        chance = np.random.default_rng(seed)
        columns = chance.normal(size=(24, 1, 4))
        target = columns @ TRUTH + 2.0 * chance.normal(size=(24, 1))
        options = {"names": NAMES, "units": UNITS, "sizes": TRUTH}
        good = fit_of(columns, target, prior=1.02 * TRUTH, **options)
        bad = fit_of(columns, target, prior=-4.0 * TRUTH, **options)
        plain = np.linalg.lstsq(columns[:, 0], target[:, 0], rcond=None)[0]
        weights.append((good.draw.weight, bad.draw.weight))
        shares.append((good.table[1].from_logs, bad.table[1].from_logs))
        errors.append([np.linalg.norm(x - TRUTH) for x in (good.values, bad.values, plain)])
    assert np.median(weights, axis=0)[0] > 100 * np.median(weights, axis=0)[1]
    assert np.median(shares, axis=0)[0] < 0.2 < 0.8 < np.median(shares, axis=0)[1]
    drawn, spoilt, undrawn = np.median(errors, axis=0)
    assert drawn < 0.5 * undrawn
    assert spoilt < 1.3 * undrawn


def test_a_family_that_the_prior_knows_better_is_drawn_more_than_the_rest():
    """Twenty experiments with a prior that is right in two parameters and wrong in two."""
    prior = TRUTH * np.array([3.0, 3.0, 1.0, 1.0])
    options = {"names": NAMES, "units": UNITS, "prior": prior, "sizes": TRUTH}
    sizes, errors = [], []
    for seed in range(20):
        chance = np.random.default_rng(seed)
        columns = chance.normal(size=(30, 1, 4))
        target = columns @ TRUTH + 2.0 * chance.normal(size=(30, 1))
        alike = fit_of(columns, target, **options)
        apart = fit_of(columns, target, family=("level", "offset"), **options)
        sizes.append(apart.draw.family_size)
        errors.append([np.linalg.norm(found.values - TRUTH) for found in (apart, alike)])
    assert np.median(sizes) < 1.0
    assert max(sizes) <= 1.0  # never drawn less
    assert np.mean(errors, axis=0)[0] < 0.9 * np.mean(errors, axis=0)[1]


def test_a_held_parameter_keeps_its_prior_and_the_others_answer_as_if_it_were_known():
    columns, target = experiment(9)
    found = fit_of(columns, target, held=("damping",), weight=1e-9)
    assert (found.values[1], found.table[1].std) == (PRIOR[1], 0.0)
    rest = [0, 2, 3]
    weighted = (columns[:, :, rest] / found.residual[:, None]).reshape(-1, 3)
    known = ((target - columns[:, :, 1] * PRIOR[1]) / found.residual).ravel()
    best = np.linalg.lstsq(weighted, known, rcond=None)[0]
    assert found.values[rest] == pytest.approx(best, abs=1e-3 * stds(found)[rest].min())


def test_equal_parameters_answer_as_one_column_that_is_their_sum():
    columns, target = experiment(10)
    free = free_directions(PRIOR, np.abs(PRIOR), equal=[(0, 2)])
    rows = RegressionRows(
        columns.reshape(-1, 8), np.ones((2, 4), dtype=bool), target, np.ones_like(target, bool)
    )
    parts = [factorise(part, np.eye(4)) for part in rows.in_parts(2)]
    drawn = fit_regularised(parts, free, np.zeros(4, dtype=bool), weight=0.0)
    assert drawn.parameters[0] == drawn.parameters[2]
    summed = np.stack(
        [columns[:, :, 0] + columns[:, :, 2], columns[:, :, 1], columns[:, :, 3]], axis=2
    )
    weighted = (summed / drawn.sigma[:, None]).reshape(-1, 3)
    best = np.linalg.lstsq(weighted, (target / drawn.sigma).ravel(), rcond=None)[0]
    assert drawn.parameters[[0, 1, 3]] == pytest.approx(best, rel=1e-9)


def test_wild_rows_spoil_a_fit_less_with_hubers_weights():
    """One row in twenty is off by fifty deviations."""
    chance = np.random.default_rng(11)
    columns = chance.normal(size=(400, 1, 4))
    target = columns @ TRUTH + 0.1 * chance.normal(size=(400, 1))
    target[::20] += 5.0
    rows = RegressionRows(
        columns[:, 0], np.ones((1, 4), dtype=bool), target, np.ones((400, 1), dtype=bool)
    )
    free = free_directions(PRIOR, np.abs(PRIOR))
    nothing = np.zeros(4, dtype=bool)
    plain = drawn = fit_regularised([factorise(rows, np.eye(4))], free, nothing, weight=1e-8)
    for _ in range(4):
        weights = huber_weights(target - rows.predicted(drawn.parameters), drawn.sigma)
        drawn = refit_robustly(drawn, merge_factors([factorise(rows, np.eye(4), weights)]))
    error = np.linalg.norm(drawn.parameters - TRUTH)
    assert error < 0.3 * np.linalg.norm(plain.parameters - TRUTH)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"target": np.zeros((5, 2))}, r"target must have shape \(600, 2\).*got \(5, 2\)"),
        ({"target": np.full((600, 2), np.nan)}, "target must be finite"),
        ({"prior": [1.0, 0.0, 1.0, 1.0]}, "parameter 'damping': its size must be above 0"),
        ({"units": UNITS[:3]}, "units must be 4, one for each name, got 3"),
        ({"held": ["dampin"]}, "parameter 'dampin' is not known. Did you mean 'damping'"),
        ({"held": NAMES}, "every parameter is held"),
        ({"parts": 1}, "parts must be at least 2 and at most the 600 rows, got 1"),
        ({"independent": 0.0}, "independent must be above 0 and at most 1, got 0"),
        ({"columns": np.ones((1, 4)), "target": [1.0]}, "parts must be at least 2"),
        ({"columns": np.eye(4), "target": np.ones(4), "parts": 2}, "4 rows must be more than"),
    ],
)
def test_what_cannot_be_fitted_is_refused_in_one_sentence(change, sentence):
    columns, target = experiment(12)
    given = {"columns": columns, "target": target}
    with pytest.raises(ArmtwinError, match=sentence):
        fit_of(**{**given, **change})
