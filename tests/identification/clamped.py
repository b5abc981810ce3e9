"""Clamping curves made by the bench, with the numbers of table 6.1 of document 001."""

import numpy as np

import armtwin as at
from armtwin.drives.friction.coulomb import Coulomb

K, B, F = 25.7, 1.02e-2, 1.91  # motor side: N m/rad, rad, N m


def triangle(time, period):
    """Up and down between -1 and 1, from 0 upwards."""
    return 1 - 4 * np.abs(np.mod(time / period + 0.25, 1.0) - 0.5)


def curve(
    cycles=6,
    rate=25,
    noise=0.0,
    offset=0.0,
    wave=0.0,
    transient=0.0,
    backlash=B,
    seed=1,
    period=20.0,
):
    """The log of a clamped joint whose motor a servo turns up and down by 0.35 rad."""
    rng = np.random.default_rng(seed)
    time = np.cumsum(rng.uniform(0.8, 1.2, int(cycles * period * rate))) / rate
    bench = at.Bench(
        rotor_inertia=0.00923,
        stiffness=K,
        damping=1e-3,
        ground_damping=1e-3,
        backlash=backlash,
        friction=(at.BenchFriction("motor", Coulomb(F)),),
    )
    position = 0.35 * triangle(time, period) + offset
    log = at.simulate_bench(bench, time, position=position).log
    q, tau = log.q_m[:, 0], log.tau_m[:, 0]
    q = q + transient * np.exp(-time / (0.6 * period))
    tau = tau + wave * np.sin(2 * np.pi * time / 1.7)
    tau = tau + noise * rng.standard_normal(len(tau))
    q = q + 1e-3 * noise * rng.standard_normal(len(q))
    return at.Log.of(time, q_m=q[:, None], tau_m=tau[:, None])
