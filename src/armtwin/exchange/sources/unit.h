/* An instance, and what both versions of the interface do with it. */

#include <stdarg.h>
#include <stdio.h>

enum { NEW, INITIALISING, RUNNING, IN_EVENT, OVER, FAILED };

typedef struct {
    State state;
    int phase;
    int stale; /* whether outputs are older than the state */
    int exchange; /* whether the host integrates */
    void *host;
    void *log;
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
