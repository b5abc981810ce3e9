/* A foreign unit of FMI 2.0: torque = constant - stiffness angle - damping speed.

   -DMISSING leaves a function out, -DENDLESS has a step that never returns, -DCRASH one that ends
   the process, -DPRINTS prints where a host might listen. -DHOSTILE does what its guid names, see
   hostile.h. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static double numbers[6]; /* 1 angle, 2 speed, 3 stiffness, 4 damping, 5 constant */

#ifdef HOSTILE
#include "hostile.h"
#else
#define INSTANTIATE(guid) (void)guid
#define STEP(output)
#endif

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT void *fmi2Instantiate(const char *n, int t, const char *g, const char *r, const void *c,
                             int v, int l)
{
    (void)n, (void)t, (void)r, (void)c, (void)v, (void)l;
    memset(numbers, 0, sizeof numbers);
    INSTANTIATE(g);
    return numbers;
}

EXPORT void fmi2FreeInstance(void *c) { (void)c; }

EXPORT int fmi2SetupExperiment(void *c, int a, double b, double d, int e, double f)
{
    (void)c, (void)a, (void)b, (void)d, (void)e, (void)f;
    return 0;
}

EXPORT int fmi2EnterInitializationMode(void *c)
{
    (void)c;
    return 0;
}

EXPORT int fmi2ExitInitializationMode(void *c)
{
    (void)c;
    return 0;
}

EXPORT int fmi2SetReal(void *c, const unsigned *r, size_t n, const double *x)
{
    (void)c;
    for (size_t k = 0; k < n; ++k)
        numbers[r[k]] = x[k];
    return 0;
}

EXPORT int fmi2GetReal(void *c, const unsigned *r, size_t n, double *x)
{
    (void)c;
    for (size_t k = 0; k < n; ++k)
        x[k] = r[k] == 0 ? numbers[5] - numbers[3] * numbers[1] - numbers[4] * numbers[2]
                         : numbers[r[k]];
    return 0;
}

#ifndef MISSING
EXPORT int fmi2DoStep(void *c, double time, double duration, int a)
{
    (void)c, (void)time, (void)duration, (void)a;
#ifdef PRINTS
    puts("{\"outputs\": [1e9]}");
    fflush(stdout);
#endif
#ifdef ENDLESS
    for (volatile int k = 0;; ++k)
        ;
#endif
#ifdef CRASH
    abort();
#endif
    STEP(numbers[5]);
    return 0;
}
#endif

EXPORT int fmi2Terminate(void *c)
{
    (void)c;
    return 0;
}

/* functions that hosts look up and this unit is never asked for */
#define NEVER(name) \
    EXPORT int name(void) { return 3; }
NEVER(fmi2SetDebugLogging)
NEVER(fmi2Reset)
NEVER(fmi2GetInteger)
NEVER(fmi2GetBoolean)
NEVER(fmi2GetString)
NEVER(fmi2SetInteger)
NEVER(fmi2SetBoolean)
NEVER(fmi2SetString)
NEVER(fmi2GetFMUstate)
NEVER(fmi2SetFMUstate)
NEVER(fmi2FreeFMUstate)
NEVER(fmi2SerializedFMUstateSize)
NEVER(fmi2SerializeFMUstate)
NEVER(fmi2DeSerializeFMUstate)
NEVER(fmi2GetDirectionalDerivative)
NEVER(fmi2SetRealInputDerivatives)
NEVER(fmi2GetRealOutputDerivatives)
NEVER(fmi2CancelStep)
NEVER(fmi2GetStatus)
NEVER(fmi2GetRealStatus)
NEVER(fmi2GetIntegerStatus)
NEVER(fmi2GetBooleanStatus)
NEVER(fmi2GetStringStatus)
