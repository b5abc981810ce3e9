/* FMI 2.0: co-simulation, and model exchange where the unit has continuous states. */

#include "loop.c"
#include "unit.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#ifdef FMI2_FUNCTION_PREFIX
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define F(name) JOIN(FMI2_FUNCTION_PREFIX, name)
#else
#define F(name) name
#endif

/* types of the standard */
typedef void *Component;
typedef unsigned int Reference;
typedef int Boolean;
typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } Status;
typedef enum { MODEL_EXCHANGE, CO_SIMULATION } Type;
typedef void (*Logger)(void *, const char *, Status, const char *, const char *, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, Status);
    void *environment;
} Callbacks;
typedef struct {
    Boolean more;
    Boolean terminate;
    Boolean nominals_changed;
    Boolean values_changed;
    Boolean next_defined;
    double next;
} EventInfo;

static Status fail(Unit *unit, const char *format, ...)
{
    char text[512];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof text, format, words);
    va_end(words);
    Logger log;
    memcpy(&log, &unit->log, sizeof log);
    if (log)
        log(unit->host, unit->name, ERROR, "logStatusError", "%s", text);
    return ERROR;
}

static Status told(Unit *unit, const char *problem)
{
    return problem ? fail(unit, "%s", problem) : OK;
}

EXPORT const char *F(fmi2GetTypesPlatform)(void) { return "default"; }
EXPORT const char *F(fmi2GetVersion)(void) { return "2.0"; }

EXPORT Status F(fmi2SetDebugLogging)(Component c, Boolean on, size_t n, const char *const *names)
{
    (void)c, (void)on, (void)n, (void)names;
    return OK;
}

EXPORT Component F(fmi2Instantiate)(const char *name, Type type, const char *guid,
                                    const char *resources, const Callbacks *calls,
                                    Boolean visible, Boolean logging)
{
    (void)resources, (void)visible, (void)logging;
    if (!name || !guid || strcmp(guid, GUID) != 0)
        return 0;
    if (type == MODEL_EXCHANGE && !N_STATES)
        return 0;
    Unit *unit = new_unit(name);
    if (!unit)
        return 0;
    if (calls) {
        unit->host = calls->environment;
        memcpy(&unit->log, &calls->logger, sizeof calls->logger);
    }
    unit->exchange = type == MODEL_EXCHANGE;
    reset_unit(unit);
    return unit;
}

EXPORT void F(fmi2FreeInstance)(Component c) { free_unit(c); }

EXPORT Status F(fmi2SetupExperiment)(Component c, Boolean has_tolerance, double tolerance,
                                     double start, Boolean has_stop, double stop)
{
    Unit *unit = c;
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    if (unit->phase != NEW)
        return fail(unit, "the experiment must be set up before initialisation");
    unit->state.time = unit->state.start = start;
    return OK;
}

EXPORT Status F(fmi2EnterInitializationMode)(Component c)
{
    return told(c, enter_initialisation(c));
}

EXPORT Status F(fmi2ExitInitializationMode)(Component c)
{
    return told(c, exit_initialisation(c));
}

EXPORT Status F(fmi2Terminate)(Component c)
{
    ((Unit *)c)->phase = OVER;
    return OK;
}

EXPORT Status F(fmi2Reset)(Component c)
{
    reset_unit(c);
    return OK;
}

EXPORT Status F(fmi2GetReal)(Component c, const Reference r[], size_t n, double value[])
{
    for (size_t k = 0; k < n; ++k)
        if (!get_number(c, r[k], value + k))
            return fail(c, "there is no variable %u", r[k]);
    return OK;
}

EXPORT Status F(fmi2SetReal)(Component c, const Reference r[], size_t n, const double value[])
{
    for (size_t k = 0; k < n; ++k) {
        const char *problem = set_number(c, r[k], value[k]);
        if (problem)
            return fail(c, "variable %u %s, got %g", r[k], problem, value[k]);
    }
    return OK;
}

static Status none(Component c, size_t n)
{
    return n ? fail(c, "all variables are of type Real") : OK;
}

EXPORT Status F(fmi2GetInteger)(Component c, const Reference r[], size_t n, int value[])
{
    (void)r, (void)value;
    return none(c, n);
}

EXPORT Status F(fmi2GetBoolean)(Component c, const Reference r[], size_t n, Boolean value[])
{
    (void)r, (void)value;
    return none(c, n);
}

EXPORT Status F(fmi2GetString)(Component c, const Reference r[], size_t n, const char *value[])
{
    (void)r, (void)value;
    return none(c, n);
}

EXPORT Status F(fmi2SetInteger)(Component c, const Reference r[], size_t n, const int value[])
{
    (void)r, (void)value;
    return none(c, n);
}

EXPORT Status F(fmi2SetBoolean)(Component c, const Reference r[], size_t n, const Boolean value[])
{
    (void)r, (void)value;
    return none(c, n);
}

EXPORT Status F(fmi2SetString)(Component c, const Reference r[], size_t n, const char *const v[])
{
    (void)r, (void)v;
    return none(c, n);
}

EXPORT Status F(fmi2GetFMUstate)(Component c, void **saved) { return told(c, save_unit(c, saved)); }
EXPORT Status F(fmi2SetFMUstate)(Component c, void *saved)
{
    return told(c, restore_unit(c, saved));
}

EXPORT Status F(fmi2FreeFMUstate)(Component c, void **saved)
{
    (void)c;
    if (saved) {
        free(*saved);
        *saved = 0;
    }
    return OK;
}

EXPORT Status F(fmi2SerializedFMUstateSize)(Component c, void *saved, size_t *size)
{
    (void)c, (void)saved;
    *size = sizeof(Saved);
    return OK;
}

EXPORT Status F(fmi2SerializeFMUstate)(Component c, void *saved, char bytes[], size_t size)
{
    return told(c, serialise(saved, bytes, size));
}

EXPORT Status F(fmi2DeSerializeFMUstate)(Component c, const char bytes[], size_t size,
                                         void **saved)
{
    return told(c, deserialise(bytes, size, saved));
}

EXPORT Status F(fmi2GetDirectionalDerivative)(Component c, const Reference u[], size_t nu,
                                              const Reference k[], size_t nk, const double dk[],
                                              double du[])
{
    (void)u, (void)nu, (void)k, (void)nk, (void)dk, (void)du;
    return fail(c, "directional derivatives are not provided");
}

/* model exchange */

EXPORT Status F(fmi2EnterEventMode)(Component c)
{
    ((Unit *)c)->phase = IN_EVENT;
    return OK;
}

EXPORT Status F(fmi2NewDiscreteStates)(Component c, EventInfo *info)
{
    memset(info, 0, sizeof *info);
#if N_STATES
    Unit *unit = c;
    const char *problem = update_discrete(&unit->state, &info->next);
    info->next_defined = isfinite(info->next);
    unit->stale = 1;
    return told(unit, problem);
#else
    (void)c;
    return OK;
#endif
}

EXPORT Status F(fmi2EnterContinuousTimeMode)(Component c)
{
    ((Unit *)c)->phase = RUNNING;
    return OK;
}

EXPORT Status F(fmi2CompletedIntegratorStep)(Component c, Boolean no_return, Boolean *event,
                                             Boolean *terminate)
{
    (void)c, (void)no_return;
    *event = *terminate = 0;
    return OK;
}

EXPORT Status F(fmi2SetTime)(Component c, double time)
{
    Unit *unit = c;
    unit->state.time = time;
    unit->stale = 1;
    return OK;
}

#if N_STATES
EXPORT Status F(fmi2SetContinuousStates)(Component c, const double x[], size_t n)
{
    Unit *unit = c;
    if (n != N_STATES)
        return fail(unit, "there are %d continuous states, got %zu", N_STATES, n);
    for (size_t k = 0; k < n; ++k) {
        if (!isfinite(x[k]))
            return fail(unit, "state %zu must be a finite number, got %g", k + 1, x[k]);
        unit->state.numbers[state_place[k]] = x[k];
    }
    unit->stale = 1;
    return OK;
}

EXPORT Status F(fmi2GetDerivatives)(Component c, double slope[], size_t n)
{
    Unit *unit = c;
    if (n != N_STATES)
        return fail(unit, "there are %d continuous states, got %zu", N_STATES, n);
    refresh(unit);
    for (size_t k = 0; k < n; ++k)
        slope[k] = unit->state.numbers[slope_place[k]];
    return OK;
}

EXPORT Status F(fmi2GetEventIndicators)(Component c, double z[], size_t n)
{
    Unit *unit = c;
    if (n != N_INDICATORS)
        return fail(unit, "there are %d event indicators, got %zu", N_INDICATORS, n);
    refresh(unit);
#if N_INDICATORS
    memcpy(z, unit->state.numbers + AT_inputs_indicators, N_INDICATORS * sizeof(double));
#else
    (void)z;
#endif
    return OK;
}

EXPORT Status F(fmi2GetContinuousStates)(Component c, double x[], size_t n)
{
    Unit *unit = c;
    if (n != N_STATES)
        return fail(unit, "there are %d continuous states, got %zu", N_STATES, n);
    for (size_t k = 0; k < n; ++k)
        x[k] = unit->state.numbers[state_place[k]];
    return OK;
}

EXPORT Status F(fmi2GetNominalsOfContinuousStates)(Component c, double nominal[], size_t n)
{
    if (n != N_STATES)
        return fail(c, "there are %d continuous states, got %zu", N_STATES, n);
    memcpy(nominal, state_nominal, sizeof state_nominal);
    return OK;
}
#endif

/* co-simulation */

EXPORT Status F(fmi2SetRealInputDerivatives)(Component c, const Reference r[], size_t n,
                                             const int order[], const double value[])
{
    for (size_t k = 0; k < n; ++k) {
        if (r[k] >= N_VARIABLES || !variable_rate[r[k]] || order[k] != 1)
            return fail(c, "variable %u has no input derivative of order %d", r[k], order[k]);
        const char *problem = set_number(c, variable_rate[r[k]], value[k]);
        if (problem)
            return fail(c, "the rate of variable %u %s, got %g", r[k], problem, value[k]);
    }
    return OK;
}

EXPORT Status F(fmi2GetRealOutputDerivatives)(Component c, const Reference r[], size_t n,
                                              const int order[], double value[])
{
    (void)r, (void)order, (void)value;
    return n ? fail(c, "output derivatives are not provided") : OK;
}

EXPORT Status F(fmi2DoStep)(Component c, double time, double duration, Boolean no_set)
{
    (void)no_set;
    const char *problem = step_unit(c, time, duration);
    return problem ? fail(c, "step of %g s from %g s on: %s", duration, time, problem) : OK;
}

EXPORT Status F(fmi2CancelStep)(Component c) { return fail(c, "no step is under way"); }

EXPORT Status F(fmi2GetStatus)(Component c, int kind, Status *value)
{
    (void)kind, (void)value;
    return fail(c, "steps are finished when they return");
}

EXPORT Status F(fmi2GetRealStatus)(Component c, int kind, double *value)
{
    if (kind != 2) /* last successful time */
        return fail(c, "there is no such status");
    *value = ((Unit *)c)->state.time;
    return OK;
}

EXPORT Status F(fmi2GetIntegerStatus)(Component c, int kind, int *value)
{
    (void)kind, (void)value;
    return fail(c, "there is no such status");
}

EXPORT Status F(fmi2GetBooleanStatus)(Component c, int kind, Boolean *value)
{
    if (kind != 3) /* terminated */
        return fail(c, "there is no such status");
    *value = ((Unit *)c)->phase == FAILED;
    return OK;
}

EXPORT Status F(fmi2GetStringStatus)(Component c, int kind, const char **value)
{
    (void)kind, (void)value;
    return fail(c, "there is no such status");
}
