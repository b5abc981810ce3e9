/* A robot under its servo: ticks of the velocity loop, each in one or more steps. */

#include <stdlib.h>

#include "model.c"
#define EXTRA_STATE double window[WINDOW * REFERENCES * N_DRIVES];
#include "state.h"

#define ROW (REFERENCES * N_DRIVES)
#define MEMORIES(s)                                                                      \
    {(s)->numbers, (double *)table_1, (double *)table_2, (s)->window, 0, 0, (s)->kept}

static const char *const RUNS_AWAY =
    "the motion runs away: its speeds must stay below 1e4 rad/s. The servo is unstable with this "
    "load, or a parameter is not physical.";
static const char *const FALLS_BEHIND =
    "a drive falls behind its set-point by more than its servo allows and has stopped";

static void take_inputs(State *s)
{
    double *const m[] = MEMORIES(s);
    do_take(m);
}

/* Settle on the first set-point; returns what is wrong, or 0. */
static const char *start_loop(State *s)
{
    double *const m[] = MEMORIES(s);
    double *const x = s->numbers;
    do_mount(m);
    do_place(m);
    do_weigh(m);
#ifdef ELASTIC
    for (int k = 0; k < SETTLING; ++k) {
        do_sag(m);
        do_weigh(m);
        if (x[AT_moved] < STILL)
            break;
    }
#endif
    do_settle(m);
    do_take(m);
    for (int k = 0; k < WINDOW; ++k)
        memcpy(s->window + k * ROW, x + AT_setpoint, ROW * sizeof(double));
    x[AT_setpoints] = WINDOW;
    x[AT_k] = WINDOW - 2;
    x[AT_within_period] = x[AT_done] = 0.0;
    x[AT_late] = -1.0;
    do_before(m);
    return 0;
}

/* The set-point that was ahead is reached; the one given now is ahead. */
static void next_setpoint(State *s, double *const *m)
{
    memmove(s->window, s->window + ROW, (WINDOW - 1) * ROW * sizeof(double));
    do_take(m);
    memcpy(s->window + (WINDOW - 1) * ROW, s->numbers + AT_setpoint, ROW * sizeof(double));
}

static const char *tick(State *s, double *const *m)
{
    double *const x = s->numbers;
    int within = (int)x[AT_within_period];
    if (within == 0)
        next_setpoint(s, m);
    const int turn = within % POSITION_TICKS == 0;
    x[AT_within] = within;
    do_speeds(m);
    if (turn || READINGS > 0)
        do_positions(m);
#if READINGS
    memmove(x + AT_readings, x + AT_readings + 1, (2 * N_DRIVES * READINGS - 1) * sizeof(double));
    do_late_readings(m);
#endif
    if (turn)
        do_position_loops(m);
    do_velocity_loops(m);
#if COMMANDS
    memmove(x + AT_commands, x + AT_commands + 1, (N_DRIVES * COMMANDS - 1) * sizeof(double));
    do_late_commands(m);
#endif
    do_torques(m);
    do_equations(m);
    do_steps(m);
    const int steps = (int)x[AT_steps];
    x[AT_dt] = TICK / steps;
    memcpy(x + AT_before, x + AT_v, N_COORDINATES * sizeof(double));
    do_before_steps(m);
    for (int k = 0; k < steps; ++k) {
        do_one_step(m);
        if (x[AT_gone] >= 0.0)
            return RUNS_AWAY;
    }
    x[AT_within_period] = (within + 1) % SETPOINT_TICKS;
    x[AT_done] += 1.0;
    return x[AT_late] >= 0.0 ? FALLS_BEHIND : 0;
}

/* Take the ticks up to a time; returns what went wrong, or 0. */
static const char *advance_loop(State *s, double duration)
{
    double *const m[] = MEMORIES(s);
    const double wanted = floor((s->time + duration - s->start) / TICK + 1e-6);
    if (!(wanted - s->numbers[AT_done] < 1e9))
        return "more than 1e9 ticks in one communication step; take a shorter one";
    while (s->numbers[AT_done] < wanted) {
        const char *problem = tick(s, m);
        if (problem)
            return problem;
    }
    return 0;
}

static void compute_outputs(State *s)
{
    double *const m[] = MEMORIES(s);
    do_write_outputs(m);
}
