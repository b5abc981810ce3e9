/* FMI 3.0: co-simulation. Functions of other kinds are there and say that they cannot be used. */

#include <stdbool.h>

#include "loop.c"
#include "unit.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#ifdef FMI3_FUNCTION_PREFIX
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define F(name) JOIN(FMI3_FUNCTION_PREFIX, name)
#else
#define F(name) name
#endif

/* types of the standard */
typedef void *Instance;
typedef uint32_t Reference;
typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Status;
typedef void (*Logger)(void *, Status, const char *, const char *);
typedef void (*IntermediateUpdate)(void *, double, bool, bool, bool, bool, bool *, double *);
typedef void (*Callback)(void *);

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
        log(unit->host, ERROR, "logStatusError", text);
    return ERROR;
}

static Status told(Unit *unit, const char *problem)
{
    return problem ? fail(unit, "%s", problem) : OK;
}

static Status absent(Instance c) { return fail(c, "the unit is for co-simulation without clocks"); }

EXPORT const char *F(fmi3GetVersion)(void) { return "3.0"; }

EXPORT Status F(fmi3SetDebugLogging)(Instance c, bool on, size_t n, const char *const names[])
{
    (void)c, (void)on, (void)n, (void)names;
    return OK;
}

EXPORT Instance F(fmi3InstantiateCoSimulation)(
    const char *name, const char *token, const char *resources, bool visible, bool logging,
    bool events, bool early, const Reference required[], size_t n_required, void *environment,
    Logger log, IntermediateUpdate update)
{
    (void)resources, (void)visible, (void)logging, (void)events, (void)early;
    (void)required, (void)n_required, (void)update;
    if (!name || !token || strcmp(token, GUID) != 0)
        return 0;
    Unit *unit = new_unit(name);
    if (!unit)
        return 0;
    unit->host = environment;
    memcpy(&unit->log, &log, sizeof log);
    reset_unit(unit);
    return unit;
}

EXPORT Instance F(fmi3InstantiateModelExchange)(const char *name, const char *token,
                                                const char *resources, bool visible, bool logging,
                                                void *environment, Logger log)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging;
    (void)environment, (void)log;
    return 0;
}

EXPORT Instance F(fmi3InstantiateScheduledExecution)(
    const char *name, const char *token, const char *resources, bool visible, bool logging,
    void *environment, Logger log, Callback update, void (*lock)(void), void (*unlock)(void))
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging;
    (void)environment, (void)log, (void)update, (void)lock, (void)unlock;
    return 0;
}

EXPORT void F(fmi3FreeInstance)(Instance c) { free_unit(c); }

EXPORT Status F(fmi3EnterInitializationMode)(Instance c, bool has_tolerance, double tolerance,
                                             double start, bool has_stop, double stop)
{
    Unit *unit = c;
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    const char *problem = enter_initialisation(unit);
    if (!problem)
        unit->state.time = unit->state.start = start;
    return told(unit, problem);
}

EXPORT Status F(fmi3ExitInitializationMode)(Instance c) { return told(c, exit_initialisation(c)); }

EXPORT Status F(fmi3Terminate)(Instance c)
{
    ((Unit *)c)->phase = OVER;
    return OK;
}

EXPORT Status F(fmi3Reset)(Instance c)
{
    reset_unit(c);
    return OK;
}

/* variables: all are of type Float64 */

EXPORT Status F(fmi3GetFloat64)(Instance c, const Reference r[], size_t n, double value[],
                                size_t n_values)
{
    if (n != n_values)
        return fail(c, "%zu variables have one value each, got room for %zu", n, n_values);
    for (size_t k = 0; k < n; ++k)
        if (!get_number(c, r[k], value + k))
            return fail(c, "there is no variable %u", r[k]);
    return OK;
}

EXPORT Status F(fmi3SetFloat64)(Instance c, const Reference r[], size_t n, const double value[],
                                size_t n_values)
{
    if (n != n_values)
        return fail(c, "%zu variables have one value each, got %zu", n, n_values);
    for (size_t k = 0; k < n; ++k) {
        const char *problem = set_number(c, r[k], value[k]);
        if (problem)
            return fail(c, "variable %u %s, got %g", r[k], problem, value[k]);
    }
    return OK;
}

#define NONE(Name, type)                                                                        \
    EXPORT Status F(fmi3Get##Name)(Instance c, const Reference r[], size_t n, type value[],     \
                                   size_t n_values)                                             \
    {                                                                                           \
        (void)r, (void)value, (void)n_values;                                                   \
        return n ? fail(c, "all variables are of type Float64") : OK;                           \
    }                                                                                           \
    EXPORT Status F(fmi3Set##Name)(Instance c, const Reference r[], size_t n,                   \
                                   const type value[], size_t n_values)                         \
    {                                                                                           \
        (void)r, (void)value, (void)n_values;                                                   \
        return n ? fail(c, "all variables are of type Float64") : OK;                           \
    }

typedef const char *String;
NONE(Float32, float)
NONE(Int8, int8_t)
NONE(UInt8, uint8_t)
NONE(Int16, int16_t)
NONE(UInt16, uint16_t)
NONE(Int32, int32_t)
NONE(UInt32, uint32_t)
NONE(Int64, int64_t)
NONE(UInt64, uint64_t)
NONE(Boolean, bool)
NONE(String, String)

EXPORT Status F(fmi3GetBinary)(Instance c, const Reference r[], size_t n, size_t sizes[],
                               const uint8_t *value[], size_t n_values)
{
    (void)r, (void)sizes, (void)value, (void)n_values;
    return n ? fail(c, "all variables are of type Float64") : OK;
}

EXPORT Status F(fmi3SetBinary)(Instance c, const Reference r[], size_t n, const size_t sizes[],
                               const uint8_t *const value[], size_t n_values)
{
    (void)r, (void)sizes, (void)value, (void)n_values;
    return n ? fail(c, "all variables are of type Float64") : OK;
}

/* the state */

EXPORT Status F(fmi3GetFMUState)(Instance c, void **saved) { return told(c, save_unit(c, saved)); }
EXPORT Status F(fmi3SetFMUState)(Instance c, void *saved)
{
    return told(c, restore_unit(c, saved));
}

EXPORT Status F(fmi3FreeFMUState)(Instance c, void **saved)
{
    (void)c;
    if (saved) {
        free(*saved);
        *saved = 0;
    }
    return OK;
}

EXPORT Status F(fmi3SerializedFMUStateSize)(Instance c, void *saved, size_t *size)
{
    (void)c, (void)saved;
    *size = sizeof(Saved);
    return OK;
}

EXPORT Status F(fmi3SerializeFMUState)(Instance c, void *saved, uint8_t bytes[], size_t size)
{
    return told(c, serialise(saved, bytes, size));
}

EXPORT Status F(fmi3DeserializeFMUState)(Instance c, const uint8_t bytes[], size_t size,
                                         void **saved)
{
    return told(c, deserialise(bytes, size, saved));
}

/* co-simulation */

EXPORT Status F(fmi3EnterStepMode)(Instance c)
{
    (void)c;
    return OK;
}

EXPORT Status F(fmi3GetOutputDerivatives)(Instance c, const Reference r[], size_t n,
                                          const int32_t order[], double value[], size_t n_values)
{
    (void)r, (void)order, (void)value, (void)n_values;
    return n ? fail(c, "output derivatives are not provided") : OK;
}

EXPORT Status F(fmi3DoStep)(Instance c, double time, double duration, bool no_set, bool *event,
                            bool *terminate, bool *early, double *reached)
{
    Unit *unit = c;
    (void)no_set;
    *event = *early = *terminate = false;
    const char *problem = step_unit(unit, time, duration);
    *terminate = unit->phase == FAILED;
    *reached = unit->state.time;
    return problem ? fail(unit, "step of %g s from %g s on: %s", duration, time, problem) : OK;
}

/* what a unit without events, clocks and arrays has no use for */

EXPORT Status F(fmi3EnterConfigurationMode)(Instance c) { return absent(c); }
EXPORT Status F(fmi3ExitConfigurationMode)(Instance c) { return absent(c); }
EXPORT Status F(fmi3EnterEventMode)(Instance c) { return absent(c); }
EXPORT Status F(fmi3EnterContinuousTimeMode)(Instance c) { return absent(c); }
EXPORT Status F(fmi3EvaluateDiscreteStates)(Instance c) { return absent(c); }

EXPORT Status F(fmi3UpdateDiscreteStates)(Instance c, bool *more, bool *terminate, bool *nominals,
                                          bool *values, bool *defined, double *next)
{
    (void)more, (void)terminate, (void)nominals, (void)values, (void)defined, (void)next;
    return absent(c);
}

EXPORT Status F(fmi3CompletedIntegratorStep)(Instance c, bool no_set, bool *event, bool *terminate)
{
    (void)no_set, (void)event, (void)terminate;
    return absent(c);
}

EXPORT Status F(fmi3SetTime)(Instance c, double time)
{
    (void)time;
    return absent(c);
}

EXPORT Status F(fmi3SetContinuousStates)(Instance c, const double x[], size_t n)
{
    (void)x, (void)n;
    return absent(c);
}

#define OF_STATES(Name)                                                                         \
    EXPORT Status F(Name)(Instance c, double x[], size_t n)                                     \
    {                                                                                           \
        (void)x, (void)n;                                                                       \
        return absent(c);                                                                       \
    }
OF_STATES(fmi3GetContinuousStates)
OF_STATES(fmi3GetContinuousStateDerivatives)
OF_STATES(fmi3GetEventIndicators)
OF_STATES(fmi3GetNominalsOfContinuousStates)

#define COUNT(Name)                                                                             \
    EXPORT Status F(Name)(Instance c, size_t *n)                                                \
    {                                                                                           \
        (void)n;                                                                                \
        return absent(c);                                                                       \
    }
COUNT(fmi3GetNumberOfContinuousStates)
COUNT(fmi3GetNumberOfEventIndicators)

EXPORT Status F(fmi3GetNumberOfVariableDependencies)(Instance c, Reference r, size_t *n)
{
    (void)r, (void)n;
    return absent(c);
}

EXPORT Status F(fmi3GetVariableDependencies)(Instance c, Reference r, size_t places[],
                                             Reference of[], size_t others[], int kinds[],
                                             size_t n)
{
    (void)r, (void)places, (void)of, (void)others, (void)kinds, (void)n;
    return absent(c);
}

#define SLOPES(Name)                                                                            \
    EXPORT Status F(Name)(Instance c, const Reference u[], size_t nu, const Reference k[],      \
                          size_t nk, const double seed[], size_t n_seed, double found[],        \
                          size_t n_found)                                                       \
    {                                                                                           \
        (void)u, (void)nu, (void)k, (void)nk, (void)seed, (void)n_seed, (void)found;            \
        (void)n_found;                                                                          \
        return absent(c);                                                                       \
    }
SLOPES(fmi3GetDirectionalDerivative)
SLOPES(fmi3GetAdjointDerivative)

EXPORT Status F(fmi3GetClock)(Instance c, const Reference r[], size_t n, bool value[])
{
    (void)r, (void)n, (void)value;
    return absent(c);
}

EXPORT Status F(fmi3SetClock)(Instance c, const Reference r[], size_t n, const bool value[])
{
    (void)r, (void)n, (void)value;
    return absent(c);
}

EXPORT Status F(fmi3GetIntervalDecimal)(Instance c, const Reference r[], size_t n, double value[],
                                        int qualifier[])
{
    (void)r, (void)n, (void)value, (void)qualifier;
    return absent(c);
}

EXPORT Status F(fmi3GetIntervalFraction)(Instance c, const Reference r[], size_t n,
                                         uint64_t counter[], uint64_t resolution[],
                                         int qualifier[])
{
    (void)r, (void)n, (void)counter, (void)resolution, (void)qualifier;
    return absent(c);
}

EXPORT Status F(fmi3GetShiftDecimal)(Instance c, const Reference r[], size_t n, double value[])
{
    (void)r, (void)n, (void)value;
    return absent(c);
}

EXPORT Status F(fmi3GetShiftFraction)(Instance c, const Reference r[], size_t n,
                                      uint64_t counter[], uint64_t resolution[])
{
    (void)r, (void)n, (void)counter, (void)resolution;
    return absent(c);
}

#define SET_DECIMAL(Name)                                                                       \
    EXPORT Status F(Name)(Instance c, const Reference r[], size_t n, const double value[])      \
    {                                                                                           \
        (void)r, (void)n, (void)value;                                                          \
        return absent(c);                                                                       \
    }
SET_DECIMAL(fmi3SetIntervalDecimal)
SET_DECIMAL(fmi3SetShiftDecimal)

#define SET_FRACTION(Name)                                                                      \
    EXPORT Status F(Name)(Instance c, const Reference r[], size_t n, const uint64_t counter[],  \
                          const uint64_t resolution[])                                          \
    {                                                                                           \
        (void)r, (void)n, (void)counter, (void)resolution;                                      \
        return absent(c);                                                                       \
    }
SET_FRACTION(fmi3SetIntervalFraction)
SET_FRACTION(fmi3SetShiftFraction)

EXPORT Status F(fmi3ActivateModelPartition)(Instance c, Reference r, double time)
{
    (void)r, (void)time;
    return absent(c);
}
