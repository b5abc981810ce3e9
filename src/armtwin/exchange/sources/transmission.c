/* A transmission: steps between two points of communication, equations at an instant. */

#include <stdlib.h>

#include "model.c"
#include "state.h"

#define MEMORIES(s) {(s)->numbers, (double *)table_1, (s)->kept}

static const char *const RUNS_AWAY =
    "the motion runs away: its speed must stay below 1e4 rad/s. Torques are too large for the "
    "inertias, or a parameter is not physical.";

/* Take the inputs as they are now. */
static void take_inputs(State *s)
{
    s->numbers[AT_drive] = s->numbers[AT_given];
    s->numbers[AT_load] = s->numbers[AT_given_load];
}

/* Compute what follows from the parameters; returns what is wrong with them, or 0. */
static const char *start_loop(State *s)
{
    double *const m[] = MEMORIES(s);
    if (!(s->numbers[AT_step] > 0.0))
        return "step must be greater than 0 s";
    if (!(s->numbers[AT_rotor_inertia] > 0.0) || s->numbers[AT_gear_ratio] == 0.0)
        return "rotor_inertia must be greater than 0 and gear_ratio must not be 0";
    if (!(s->numbers[AT_stiffness] > 0.0))
        return "stiffness must be greater than 0 N m/rad";
#ifdef AT_inertia
    if (!(s->numbers[AT_inertia] > 0.0))
        return "inertia must be greater than 0 kg m2";
#endif
    do_before(m);
    take_inputs(s);
    return 0;
}

static int one_step(double *const *m)
{
#ifdef SWITCHING
    do_begin_step(m);
    for (int k = 0; k < SWEEPS; ++k) {
        do_sweep(m);
        if (m[0][AT_largest] < SWEPT)
            break;
    }
    do_end_step(m);
#else
    do_step(m);
#endif
    return m[0][AT_gone] < 0.0;
}

/* Go on for a time [s]; inputs change evenly by their rates. Returns what went wrong, or 0. */
static const char *advance_loop(State *s, double duration)
{
    double *const m[] = MEMORIES(s);
    double *const x = s->numbers;
    const double wanted = ceil(duration / x[AT_step] - 1e-9);
    if (!(wanted < 1e9))
        return "more than 1e9 steps in one communication step; a shorter one, or a longer step";
    const int64_t steps = wanted > 1.0 ? (int64_t)wanted : 1;
    const double drive = x[AT_given], load = x[AT_given_load];
    x[AT_dt] = duration / (double)steps;
    for (int64_t i = 0; i < steps; ++i) {
        const double since = ((double)i + 0.5) * x[AT_dt];
        x[AT_drive] = drive + since * x[AT_given_rate];
        x[AT_load] = load + since * x[AT_given_load_rate];
        if (!one_step(m))
            return RUNS_AWAY;
    }
    x[AT_drive] = drive + duration * x[AT_given_rate];
    x[AT_load] = load + duration * x[AT_given_load_rate];
    return 0;
}

static void compute_outputs(State *s)
{
    double *const m[] = MEMORIES(s);
    do_outputs(m);
#if N_STATES
    do_derivatives(m);
#endif
}

#if N_STATES
static void compute_indicators(State *s, double *z)
{
    double *const m[] = MEMORIES(s);
    do_indicators(m);
    memcpy(z, s->numbers + AT_indicators, N_INDICATORS * sizeof(double));
}
#endif
