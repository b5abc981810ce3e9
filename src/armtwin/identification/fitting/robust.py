"""Rows with a large residual count less: Huber's weights."""

from dataclasses import replace

import numpy as np

from armtwin.identification.fitting.factors import Factors
from armtwin.identification.fitting.least_squares import estimate_scales, fit
from armtwin.identification.fitting.regularisation import RegularisedFit
from armtwin.maths.batch import Floats

HUBER = 1.345  # deviations beyond which a row counts less
KEPT_BY_HUBER = 0.710  # share of a normal residual's power that remains with the weights


def huber_weights(residual: Floats, sigma: Floats) -> Floats:
    """Weights of rows (k, n) that decrease with a residual beyond a few deviations (n,)."""
    size = np.abs(residual) / (HUBER * sigma)
    return 1 / np.maximum(size, 1.0)


def refit_robustly(former: RegularisedFit, whole: Factors) -> RegularisedFit:
    """Fit all rows with Huber's weights, regularised as a former fit."""
    sigma = estimate_scales(whole, former.free) / np.sqrt(KEPT_BY_HUBER)
    renewed = fit(whole, former.free, former.draw.weight, sigma)
    return replace(former, whole=whole, sigma=sigma, fit=renewed)
