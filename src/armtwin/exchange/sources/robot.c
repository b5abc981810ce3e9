/* A robot under its servo: ticks of the velocity loop, taken by the unit or integrated by its host. */

#include <stdlib.h>

#include "model.c"
#include "state.h"

static const char *const RUNS_AWAY =
    "the motion runs away: its speeds must stay below 1e4 rad/s. The servo is unstable with this "
    "load, or a parameter is not physical.";
static const char *const FALLS_BEHIND =
    "a drive falls behind its set-point by more than its servo allows and has stopped";

/* Set-points are taken at their ticks, torques from outside as they are. */
static void take_inputs(State *s) { (void)s; }

/* Settle on the first set-point; returns what is wrong, or 0. */
static const char *start_loop(State *s)
{
    double *const m[] = MEMORIES(s);
    do_settle_bodies(m);
#ifdef SETTLING
    for (int k = 0; k < SETTLING; ++k) {
        do_sag(m);
        if (s->numbers[AT_inputs_moved] < STILL)
            break;
    }
#endif
    do_settle(m);
    for (int k = 0; k < SETPOINTS; ++k)
        do_take(m);
    do_before(m);
    return 0;
}

/* At a set-point the next one is taken; returns whether it is the turn of the position loops. */
static int begin_tick(double *const *m)
{
    const int within = (int)m[0][AT_clock_within];
    if (within == 0)
        do_take(m);
    return within % POSITION_TICKS == 0;
}

/* Count the tick; returns what went wrong in it, or 0. */
static const char *end_tick(double *x)
{
    x[AT_clock_within] = ((int)x[AT_clock_within] + 1) % SETPOINT_TICKS;
    x[AT_clock_tick] += 1.0;
    if (x[AT_clock_gone] >= 0.0)
        return RUNS_AWAY;
    return x[AT_clock_late] >= 0.0 ? FALLS_BEHIND : 0;
}

/* Take the ticks up to a time; returns what went wrong, or 0. */
static const char *advance_loop(State *s, double duration)
{
    double *const m[] = MEMORIES(s);
    const double wanted = floor((s->time + duration - s->start) / TICK + 1e-6);
    if (!(wanted - s->numbers[AT_clock_tick] < 1e9))
        return "more than 1e9 ticks in one communication step; take a shorter one";
    while (s->numbers[AT_clock_tick] < wanted) {
        tick(m, begin_tick(m), 1, 0);
        const char *problem = end_tick(s->numbers);
        if (problem)
            return problem;
    }
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
/* At its ticks the controller reads and commands; tells the time of the next one. */
static inline const char *update_discrete(State *s, double *next)
{
    double *const m[] = MEMORIES(s);
    double *const x = s->numbers;
    const char *problem = 0;
    if (s->time >= s->start + (x[AT_clock_tick] - 1e-6) * TICK) {
        do_compute_slopes(m);
        control(m, begin_tick(m), 0, 0);
        problem = end_tick(x);
    }
    *next = s->start + x[AT_clock_tick] * TICK;
    return problem;
}
#endif
