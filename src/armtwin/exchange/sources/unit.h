/* An instance, and what both versions of the interface do with it. */

#include <stdarg.h>
#include <stdio.h>

enum { NEW, INITIALISING, RUNNING, IN_EVENT, OVER, FAILED };

typedef struct {
    State state;
    int phase;
    int stale; /* whether outputs are older than the state */
    int exchange; /* whether the host integrates */
    void *host; /* what the host wants to be handed with a message */
    void *log;  /* its function for messages */
    char *name;
} Unit;

static Unit *new_unit(const char *name)
{
    Unit *unit = calloc(1, sizeof *unit);
    if (!unit)
        return 0;
    unit->name = malloc(strlen(name) + 1);
    if (!unit->name) {
        free(unit);
        return 0;
    }
    strcpy(unit->name, name);
    return unit;
}

static void free_unit(Unit *unit)
{
    if (unit) {
        free(unit->name);
        free(unit);
    }
}

/* As it was when it was made. */
static void reset_unit(Unit *unit)
{
    memset(&unit->state, 0, sizeof unit->state);
    memcpy(unit->state.numbers, number_start, sizeof unit->state.numbers);
    unit->phase = NEW;
    unit->stale = 1;
}

static void refresh(Unit *unit)
{
    if (!unit->stale || unit->phase == NEW || unit->phase == FAILED)
        return;
    if (unit->exchange || unit->phase == INITIALISING)
        take_inputs(&unit->state);
    if (unit->phase == INITIALISING)
        start_loop(&unit->state);
    compute_outputs(&unit->state);
    unit->stale = 0;
}

static int get_number(Unit *unit, unsigned reference, double *value)
{
    if (reference >= N_VARIABLES)
        return 0;
    refresh(unit);
    *value = reference ? unit->state.numbers[variable_place[reference]] : unit->state.time;
    return 1;
}

/* Set a variable; returns why it may not be set, or 0. */
static const char *set_number(Unit *unit, unsigned reference, double value)
{
    if (reference == 0 || reference >= N_VARIABLES)
        return "is not a variable that can be set";
    const int kind = variable_kind[reference];
    const int before = unit->phase == NEW || unit->phase == INITIALISING;
    if (kind == OUTPUT || kind == DERIVATIVE)
        return "is computed and cannot be set";
    if (kind == PARAMETER && !before)
        return "is a parameter, which is fixed once the unit is initialised";
    if (kind == CONTINUOUS && !before)
        return "is a state, of which only the start can be set";
    if (!isfinite(value))
        return "must be a finite number";
    if (value < variable_least[reference])
        return "is below its least value";
    unit->state.numbers[variable_place[reference]] = value;
    unit->stale = 1;
    return 0;
}

/* Each of the following returns what is wrong, or 0. */

static const char *enter_initialisation(Unit *unit)
{
    if (unit->phase != NEW)
        return "the unit is initialised already; reset it first";
    unit->phase = INITIALISING;
    unit->stale = 1;
    return 0;
}

static const char *exit_initialisation(Unit *unit)
{
    if (unit->phase != INITIALISING)
        return "initialisation must be entered before it is left";
    const char *problem = start_loop(&unit->state);
    unit->phase = problem ? FAILED : unit->exchange ? IN_EVENT : RUNNING;
    unit->stale = 1;
    return problem;
}

static const char *step_unit(Unit *unit, double time, double duration)
{
    if (unit->phase != RUNNING || unit->exchange)
        return "a step needs a unit that is initialised for co-simulation";
    if (!(duration > 0.0) || !isfinite(duration) || !isfinite(time))
        return "a communication step must be greater than 0 s";
    unit->state.time = time;
    unit->stale = 1;
    const char *problem = advance_loop(&unit->state, duration);
    if (problem)
        unit->phase = FAILED;
    else
        unit->state.time = time + duration;
    return problem;
}

/* A saved state is the state and the phase; it is serialised as it lies in memory. */
typedef struct {
    State state;
    int phase;
} Saved;

static const char *save_unit(const Unit *unit, void **saved)
{
    Saved *copy = *saved ? *saved : calloc(1, sizeof *copy);
    if (!copy)
        return "there is no memory for a state";
    copy->state = unit->state;
    copy->phase = unit->phase;
    *saved = copy;
    return 0;
}

static const char *restore_unit(Unit *unit, const void *saved)
{
    if (!saved)
        return "there is no state to restore";
    unit->state = ((const Saved *)saved)->state;
    unit->phase = ((const Saved *)saved)->phase;
    unit->stale = 1;
    return 0;
}

static const char *serialise(const void *saved, void *bytes, size_t size)
{
    if (!saved || size < sizeof(Saved))
        return "there is no room for a serialised state";
    memcpy(bytes, saved, sizeof(Saved));
    return 0;
}

static const char *deserialise(const void *bytes, size_t size, void **saved)
{
    if (size != sizeof(Saved))
        return "a serialised state of this unit has another size";
    if (!*saved)
        *saved = malloc(sizeof(Saved));
    if (!*saved)
        return "there is no memory for a state";
    memcpy(*saved, bytes, sizeof(Saved));
    return 0;
}
