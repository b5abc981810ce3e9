"""Columns, a target, names, units and a prior -> a table with standard deviations.

    target_j = Y_j φ + noise_j        for each channel j, φ regularised towards the prior

The weight of the prior is the one that predicts best the parts left out of the fit. A direction
that the data do not identify stays at the prior, and the table says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.identification.fitting.decomposition import Decomposition, decompose
from armtwin.identification.fitting.factors import Factors, factorise, merge_factors
from armtwin.identification.fitting.free_directions import free_directions
from armtwin.identification.fitting.least_squares import covariance, residuals, resolution
from armtwin.identification.fitting.regularisation import Regularisation, fit_regularised
from armtwin.identification.fitting.rows import RegressionRows
from armtwin.identification.fitting.structure import ColumnStructure, analyse_structure
from armtwin.identification.fitting.table import FittedParameter, parameter_table
from armtwin.maths.batch import Flags, Floats, TwoArrays, check_array
from armtwin.maths.blas import one_blas_thread

PARTS = 6  # into which rows are cut, to be left out in turn


@dataclass(frozen=True, eq=False)
class ParameterFit:
    """Parameters fitted to a target, and how they were found.

    Attributes:
        table: Every parameter with prior, value, standard deviation and the shares that the data
            identify.
        covariance: Covariance of the parameters, (p, p).
        residual: Root mean square of target minus fit of each channel, (n,).
        draw: How strongly the parameters were regularised towards the prior, and what was tried.
        structure: Which parameters are identifiable alone, and which in combination.
        decomposition: Singular values of the scaled columns.
    """

    table: tuple[FittedParameter, ...]
    covariance: Floats
    residual: Floats
    draw: Regularisation
    structure: ColumnStructure
    decomposition: Decomposition

    @property
    def values(self) -> Floats:
        """The fitted parameters, (p,)."""
        return np.array([parameter.value for parameter in self.table])


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The parameters that a fit is asked for.

    Attributes:
        names: Names of the parameters, (p,).
        units: Their units, (p,).
        prior: Their values before, (p,).
        sizes: How far each may lie from its prior, about, (p,); by default the prior's size.
        held: Names of parameters that keep their prior.
        family: Names of parameters that the prior may know better than the others, or worse.
    """

    names: Sequence[str]
    units: Sequence[str]
    prior: ArrayLike
    sizes: ArrayLike | None = None
    held: Collection[str] = ()
    family: Collection[str] = ()


@one_blas_thread()
def fit_parameters(
    columns: ArrayLike,
    target: ArrayLike,
    unknowns: Unknowns,
    *,
    parts: int = PARTS,
    weight: float | None = None,
    independent: float = 1.0,
) -> ParameterFit:
    """Fit parameters that explain a target, regularised towards their prior.

    Args:
        columns: Contribution of each parameter to the target, (k, n, p), or (k, p) for one channel.
        target: The values to explain, (k, n), or (k,) for one channel.
        unknowns: The parameters, with their prior.
        parts: Number of parts, one after the other, that are left out in turn to choose the
            weight.
        weight: Weight of the prior; by default the one that predicts best what was left out.
        independent: Share of the rows that are independent of each other, above 0 and at most 1.
    """
    names, units = unknowns.names, unknowns.units
    p = len(names)
    each, wanted = _check_rows(columns, target, p)
    start = check_array("prior", unknowns.prior, (p,), "one for each name")
    if len(units) != p:
        raise ArmtwinError(f"units must be {p}, one for each name, got {len(units)}")
    if not 0 < independent <= 1:
        raise ArmtwinError(f"independent must be above 0 and at most 1, got {independent:g}")
    likely = _check_sizes(start if unknowns.sizes is None else unknowns.sizes, names)
    kept = np.flatnonzero(_flag_named(unknowns.held, names)).tolist()
    free = free_directions(start, likely, kept)
    structure = analyse_structure(each, names)
    pieces = _factors_of_parts(each, wanted, structure, parts)
    rows = int(merge_factors(pieces).count.sum())
    if rows <= free.count:
        raise ArmtwinError(f"{rows} rows must be more than the {free.count} parameters to fit")
    regularised = fit_regularised(pieces, free, _flag_named(unknowns.family, names), weight)
    largest = np.abs(wanted).max(axis=0)
    analysis = decompose(regularised.whole, np.where(largest > 0, largest, 1.0), free)
    spread = covariance(regularised.fit, regularised.free, independent)
    numbers = {
        "prior": start,
        "value": regularised.parameters,
        "std": np.sqrt(np.diag(spread)),
        "from_logs": resolution(regularised.fit, regularised.free),
        "told": analysis.told,
    }
    table = parameter_table(names, units, structure.groups, numbers)
    residual = residuals(regularised.whole, regularised.parameters)
    return ParameterFit(table, spread, residual, regularised.draw, structure, analysis)


def _check_rows(columns: ArrayLike, target: ArrayLike, p: int) -> TwoArrays:
    """Columns (k, n, p) and target (k, n)."""
    each = check_array("columns", columns, (p,), "the last axis one for each name")
    if each.ndim == 2:
        each = each[:, None]
    if each.ndim != 3 or not each.size:
        raise ArmtwinError(f"columns must have shape (k, n, {p}) or (k, {p}), got {each.shape}")
    k, n, _ = each.shape
    wanted = np.asarray(target)
    if wanted.shape == (k,):
        wanted = wanted[:, None]
    if wanted.shape != (k, n):
        raise ArmtwinError(f"target must have shape ({k}, {n}) as its columns, got {wanted.shape}")
    return each, check_array("target", wanted, (k, n), "one for each row of columns")


def _check_sizes(sizes: ArrayLike, names: Sequence[str]) -> Floats:
    """Sizes above zero, (p,)."""
    likely = np.abs(check_array("sizes", sizes, (len(names),), "one for each name"))
    for name, size in zip(names, likely, strict=True):
        if size == 0:
            raise ArmtwinError(
                f"parameter '{name}': its size must be above 0, got 0; where a prior is zero, "
                "give sizes"
            )
    return likely


def _flag_named(named: Collection[str], names: Sequence[str]) -> Flags:
    """Which parameters (p,) are named."""
    for name in named:
        if name not in names:
            raise ArmtwinError(f"parameter '{name}' is not known. {did_you_mean(name, names)}")
    return np.array([name in named for name in names])


def _factors_of_parts(
    columns: Floats, target: Floats, structure: ColumnStructure, parts: int
) -> list[Factors]:
    """Factors of parts of the rows, in base parameters."""
    if not 2 <= parts <= len(target):
        raise ArmtwinError(
            f"parts must be at least 2 and at most the {len(target)} rows, got {parts}"
        )
    channel, column = np.nonzero(structure.busy)
    Y = columns[:, channel, np.array(structure.kept)[column]]
    rows = RegressionRows(Y, structure.busy, target, np.ones(target.shape, dtype=bool))
    return [factorise(part, structure.combination) for part in rows.in_parts(parts)]
