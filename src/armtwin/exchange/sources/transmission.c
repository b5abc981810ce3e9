/* A transmission: steps between two points of communication, equations at an instant. */

#include <stdlib.h>

#include "model.c"
#include "state.h"

enum { DRIVE, DRIVE_RATE, LOAD, LOAD_RATE };

static const char *const RUNS_AWAY =
    "the motion runs away: its speed must stay below 1e4 rad/s. Torques are too large for the "
    "inertias, or a parameter is not physical.";

/* Take the inputs as they are some time after they were given. */
static void take_inputs_after(double *x, double since)
{
    const double *const given = x + AT_inputs_given;
    x[AT_inputs_drive] = given[DRIVE] + since * given[DRIVE_RATE];
    x[AT_inputs_load] = given[LOAD] + since * given[LOAD_RATE];
}

static void take_inputs(State *s) { take_inputs_after(s->numbers, 0.0); }

/* Compute what follows from the parameters; returns what is wrong with them, or 0. */
static const char *start_loop(State *s)
{
    double *const m[] = MEMORIES(s);
    const double *const x = s->numbers;
    if (!(x[AT_inputs_step] > 0.0))
        return "step must be greater than 0 s";
    if (!(x[AT_inputs_parameters_rotor_inertia] > 0.0) || x[AT_inputs_parameters_gear_ratio] == 0.0)
        return "rotor_inertia must be greater than 0 and gear_ratio must not be 0";
    if (!(x[AT_inputs_parameters_stiffness] > 0.0))
        return "stiffness must be greater than 0 N m/rad";
#ifdef AT_inputs_parameters_inertia
    if (!(x[AT_inputs_parameters_inertia] > 0.0))
        return "inertia must be greater than 0 kg m2";
#endif
    do_parametrise(m);
    do_before(m);
    take_inputs(s);
    return 0;
}

/* Go on for a time [s]; inputs change evenly by their rates. Returns what went wrong, or 0. */
static const char *advance_loop(State *s, double duration)
{
    double *const m[] = MEMORIES(s);
    double *const x = s->numbers;
    const double wanted = ceil(duration / x[AT_inputs_step] - 1e-9);
    if (!(wanted < 1e9))
        return "more than 1e9 steps in one communication step; a shorter one, or a longer step";
    const int64_t steps = wanted > 1.0 ? (int64_t)wanted : 1;
    x[AT_clock_dt] = duration / (double)steps;
    do_before_steps(m);
    for (int64_t i = 0; i < steps; ++i) {
        take_inputs_after(x, ((double)i + 0.5) * x[AT_clock_dt]);
        step(m);
        if (x[AT_clock_gone] >= 0.0)
            return RUNS_AWAY;
    }
    take_inputs_after(x, duration);
    return 0;
}

static void compute_outputs(State *s)
{
    double *const m[] = MEMORIES(s);
    do_write_outputs(m);
#if N_STATES
    do_compute_slopes(m);
#endif
}

#if N_STATES
/* Nothing changes at a time of its own. */
static inline const char *update_discrete(State *s, double *next)
{
    (void)s;
    *next = INFINITY;
    return 0;
}
#endif
