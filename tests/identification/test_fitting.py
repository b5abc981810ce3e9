"""The fitting core on made-up linear problems with known answers: no robot, no log."""

from types import SimpleNamespace

import numpy as np
import pytest

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.decomposition import analyse_structure, decompose
from armtwin.identification.fitting.estimate import (
    RowNoise,
    ShapeParameters,
    even_blocks,
    fit as fit_rows,
    fit_separable,
    jackknife,
    solve_normal,
    student,
)
from armtwin.identification.fitting.factors import (
    RegressionRows,
    factorise,
    free_directions,
    merge_factors,
)
from armtwin.identification.fitting.regularisation import (
    WEIGHTS,
    covariance,
    estimate_scatter,
    fit,
    fit_regularised,
    huber_weights,
    refit_robustly,
    residuals,
    resolution,
)
from armtwin.identification.fitting.squares import (
    ChannelSquares,
    LeftOutParts,
    compute_squares,
    prepare_left_out_parts,
)

NAMES = ("stiffness", "damping", "level", "offset")
TRUTH = np.array([3.0, 0.5, 2.0, -1.0])
PRIOR = np.array([2.5, 0.7, 1.5, -1.4])
NOISE = np.array([0.2, 5.0])  # of two channels


def experiment(seed, rows=600):
    """Columns (k, 2, 4) and a target (k, 2) with noise that differs 25 times between channels."""
    chance = np.random.default_rng(seed)
    columns = chance.normal(size=(rows, 2, 4))
    return columns, columns @ TRUTH + NOISE * chance.normal(size=(rows, 2))


def fit_of(columns, target, prior=PRIOR, sizes=None, held=(), family=(), parts=6, weight=None):
    """A fit regularised towards a prior, as of a robot's parameters."""
    prior = np.asarray(prior)
    held = [NAMES.index(name) for name in held]
    free = free_directions(prior, np.abs(prior if sizes is None else sizes), held)
    structure = analyse_structure(columns, NAMES)
    channel, column = np.nonzero(structure.busy)
    Y = columns[:, channel, np.array(structure.kept)[column]]
    rows = RegressionRows(Y, structure.busy, target, np.ones(target.shape, dtype=bool))
    pieces = [factorise(part, structure.combination) for part in rows.in_parts(parts)]
    which = np.array([name in family for name in NAMES])
    found = fit_regularised(pieces, free, which, weight)
    spread = covariance(found.fit, found.free, 1.0)
    analysis = decompose(found.whole, np.abs(target).max(axis=0), free)
    return SimpleNamespace(
        values=found.parameters,
        std=np.sqrt(np.diag(spread)),
        covariance=spread,
        residual=residuals(found.whole, found.parameters),
        draw=found.draw,
        structure=structure,
        decomposition=analysis,
        told=analysis.told,
        from_logs=resolution(found.fit, found.free),
    )


def test_standard_deviations_hold_the_truth_as_often_as_they_say():
    """Two hundred experiments: scores have a spread of one, and 95 % lie within 1.96 of it."""
    scores = []
    for seed in range(200):
        found = fit_of(*experiment(seed))
        scores.append((found.values - TRUTH) / found.std)
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


def test_left_out_parts_of_a_channel_without_noise_and_of_equal_columns_are_predicted():
    """Squares beside which the prior is less than their rounding: the normal equations of two
    equal columns would be singular. Equal columns share what explains the target.
    """
    rng = np.random.default_rng(8)
    column = rng.normal(size=(4, 30))
    fitted = np.zeros((4, 3, 3))
    for k, x in enumerate(column):
        rows = np.column_stack([x, x, 2.0 * x]) / 1e-5
        fitted[k] = rows.T @ rows
    channel = ChannelSquares(np.arange(3), fitted * 1e-10)
    power = np.array([4 * (column**2).sum()])
    parts = LeftOutParts(fitted, (channel,), power, 1e-8, always=2)
    assert parts.values(()).sum() == pytest.approx(2.0, rel=1e-9)
    assert parts.values(()) == pytest.approx([1.0, 1.0], rel=0.1)  # to rounding times 1e10
    assert parts.missed(()).sum() < 1e-9 * power[0]


def test_channels_count_by_their_own_noise():
    """The answer is that of weights by the true noise, which the fit has to find by itself."""
    columns, target = experiment(1)
    weighted = (columns / NOISE[:, None]).reshape(-1, 4)
    best = np.linalg.lstsq(weighted, (target / NOISE).ravel(), rcond=None)[0]
    found = fit_of(columns, target, weight=1e-9)
    assert np.abs(found.values - best).max() < 0.05 * found.std.min()
    assert found.residual == pytest.approx(NOISE, rel=0.1)  # 600 samples give a noise to 3 %


def test_rows_that_are_said_twice_tell_no_more_than_once():
    columns, target = experiment(2)
    once = fit_rows(columns, target)
    columns, target = np.repeat(columns, 2, axis=0), np.repeat(target, 2, axis=0)
    twice = fit_rows(columns, target, RowNoise(independent=0.5))
    assert twice.values == pytest.approx(once.values, rel=1e-9)
    assert twice.std == pytest.approx(once.std, rel=3e-3)  # of 1200 rows less 4
    found = fit_rows(columns[:, 0], target[:, 0], RowNoise(independent=None))
    alone = fit_rows(columns[::2, 0], target[::2, 0])
    assert found.std == pytest.approx(alone.std, rel=0.2)  # by its autocorrelation, to 10 %


@pytest.mark.parametrize("kind", ["white", "uneven", "correlated"])
def test_intervals_of_rows_in_blocks_cover_the_truth(kind):
    """300 draws each: with independent rows, with a column that one block in ten alone shows, and
    with rows that err together in tens, for which white deviations would be 3 times too small.
    """
    covered, white = [], []
    for seed in range(300):
        chance = np.random.default_rng(seed)
        columns = chance.normal(size=(400, 2, 4))
        noise = NOISE * chance.normal(size=(400, 2))
        if kind == "uneven":
            columns[:40, :, 0] *= 5.0
        if kind == "correlated":
            columns, noise = np.repeat(columns[:40], 10, axis=0), np.repeat(noise[:40], 10, axis=0)
        target = columns @ TRUTH + noise
        found = fit_rows(columns, target, RowNoise(even_blocks([400], 10)))
        covered.append((found.low < TRUTH) & (found.high > TRUTH))
        white.append(found.std / fit_rows(columns, target).std)
    share = np.mean(covered, axis=0)
    assert (share > 0.91).all()  # 95 % of 300 err by 1.3 %
    assert (
        np.mean(share) < 0.99
    )  # the wider of two intervals covers more where rows are independent
    assert (np.median(white, axis=0) > 2.0).all() == (kind == "correlated")


def test_shapes_are_found_with_their_coefficients_and_a_prior_counts_as_one_row():
    """A decay: the separable fit is that of all parameters together, by another road."""
    from scipy.optimize import curve_fit

    time = np.linspace(0.0, 4.0, 80)
    y = 2.0 + 3.0 * np.exp(-time / 1.3) + 0.05 * np.random.default_rng(3).normal(size=80)

    def model(x):
        return np.column_stack([np.ones(80), np.exp(-time / np.exp(x[0]))]), y

    found = fit_separable(model, ShapeParameters(np.zeros(1)))
    whole, spread = curve_fit(lambda t, a, b, c: a + b * np.exp(-t / np.exp(c)), time, y, TRUTH[:3])
    assert found.values == pytest.approx(whole, rel=1e-5)
    assert found.covariance == pytest.approx(spread, rel=1e-3)
    assert found.half_width / found.std == pytest.approx(np.full(3, student(77)), rel=1e-9)
    tied = fit_separable(model, ShapeParameters(np.zeros(1), prior=1e12))
    assert tied.values[2] == pytest.approx(0.0, abs=1e-6)
    assert tied.std[2] < 1e-5
    twice = found.transform(lambda x: np.array([x[0] + x[1]]))
    assert twice.std[0] == pytest.approx(np.sqrt(spread[:2, :2].sum()), rel=1e-3)


def test_a_parameter_without_a_column_stays_at_the_prior_and_says_so():
    columns, target = experiment(3)
    columns[:, :, 1] = 0.0
    silent = fit_of(columns, target)
    assert silent.values[1] == pytest.approx(PRIOR[1], rel=1e-12)
    assert silent.structure.groups[1] == "none"
    assert [silent.told[1], silent.from_logs[1]] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_of_two_parameters_in_one_sum_the_data_tell_the_sum_and_the_prior_the_split():
    """Columns alike: φ₁ and φ₂ change in proportion to the squares of their sizes."""
    columns, target = experiment(4)
    target -= columns[:, :, 1] * TRUTH[1] - columns[:, :, 0] * TRUTH[1]
    columns[:, :, 1] = columns[:, :, 0]
    found = fit_of(columns, target, weight=1e-6)
    assert found.structure.groups[:2] == ("combined", "combined")
    assert found.structure.rank == 3
    sum_std = np.sqrt(found.covariance[:2, :2].sum())
    assert abs(found.values[:2].sum() - TRUTH[:2].sum()) < 3 * sum_std
    assert sum_std < 0.01 * found.std[:2].min()
    change = found.values[:2] - PRIOR[:2]
    assert change[0] / change[1] == pytest.approx((PRIOR[0] / PRIOR[1]) ** 2, rel=1e-3)
    share = PRIOR[:2] ** 2 / (PRIOR[:2] ** 2).sum()
    assert found.from_logs[:2] == pytest.approx(share, rel=1e-3)
    assert found.told[:2] == pytest.approx(share, rel=1e-3)


def test_a_direction_lost_in_noise_is_not_told_to_a_tenth():
    """Two columns that differ by a thousandth: the deviation of their split is above its size."""
    chance = np.random.default_rng(5)
    columns = chance.normal(size=(400, 1, 4))
    columns[:, :, 1] = columns[:, :, 0] + 1e-3 * columns[:, :, 1]
    target = columns @ TRUTH + 0.1 * chance.normal(size=(400, 1))
    found = fit_of(columns, target)
    assert (found.decomposition.rank, found.decomposition.kept) == (4, 3)
    assert found.told[0] + found.told[1] == pytest.approx(1.0, abs=0.01)
    assert found.told[2] == pytest.approx(1.0, abs=0.01)
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
        good = fit_of(columns, target, prior=1.02 * TRUTH, sizes=TRUTH)
        bad = fit_of(columns, target, prior=-4.0 * TRUTH, sizes=TRUTH)
        plain = np.linalg.lstsq(columns[:, 0], target[:, 0], rcond=None)[0]
        weights.append((good.draw.weight, bad.draw.weight))
        shares.append((good.from_logs[1], bad.from_logs[1]))
        errors.append([np.linalg.norm(x - TRUTH) for x in (good.values, bad.values, plain)])
    assert np.median(weights, axis=0)[0] > 100 * np.median(weights, axis=0)[1]
    assert np.median(shares, axis=0)[0] < 0.2 < 0.8 < np.median(shares, axis=0)[1]
    drawn, spoilt, undrawn = np.median(errors, axis=0)
    assert drawn < 0.5 * undrawn
    assert spoilt < 1.3 * undrawn


def test_a_family_that_the_prior_knows_better_is_drawn_more_than_the_rest():
    """Twenty experiments with a prior that is right in two parameters and wrong in two."""
    prior = TRUTH * np.array([3.0, 3.0, 1.0, 1.0])
    options = {"prior": prior, "sizes": TRUTH}
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
    assert (found.values[1], found.std[1]) == (PRIOR[1], 0.0)
    rest = [0, 2, 3]
    weighted = (columns[:, :, rest] / found.residual[:, None]).reshape(-1, 3)
    known = ((target - columns[:, :, 1] * PRIOR[1]) / found.residual).ravel()
    best = np.linalg.lstsq(weighted, known, rcond=None)[0]
    assert found.values[rest] == pytest.approx(best, abs=1e-3 * found.std[rest].min())


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


def test_a_fit_of_held_parameters_alone_is_refused():
    columns, target = experiment(12)
    with pytest.raises(ArmtwinError, match="every parameter is held"):
        fit_of(columns, target, held=NAMES)


def test_a_column_of_zeros_has_no_part_in_normal_equations(rng):
    """Steps of a search may take a friction term to nothing; it was an eigenvalue of NaN."""
    A = rng.normal(size=(20, 3))
    A[:, 1] = 0.0
    wanted = np.array([[2.0], [0.0], [-1.0]])
    np.testing.assert_allclose(solve_normal(A, A @ wanted), wanted, atol=1e-12)
