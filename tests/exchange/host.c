/* A plain C host of units for co-simulation, FMI 2.0 and 3.0.

   host LIBRARY TOKEN VERSION INSTANCES INPUT RATE OUTPUT < rows of "time value rate"

   Each instance is made, initialised on the first row, driven through all rows and freed; the
   outputs of the last one are printed. */

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, int);
    void *environment;
} Callbacks;

static void *library;
static int version;

static void *symbol(const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "no symbol %s\n", name);
        exit(3);
    }
    return found;
}

static void need(int status, const char *what)
{
    if (status != 0) {
        fprintf(stderr, "%s gave status %d\n", what, status);
        exit(4);
    }
}

static void *instantiate(const char *token)
{
    static const Callbacks calls = {0};
    if (version == 2) {
        void *(*make)(const char *, int, const char *, const char *, const Callbacks *, int, int);
        *(void **)&make = symbol("fmi2Instantiate");
        return make("one", 1, token, "", &calls, 0, 0);
    }
    void *(*make)(const char *, const char *, const char *, bool, bool, bool, bool,
                  const uint32_t *, size_t, void *, void *, void *);
    *(void **)&make = symbol("fmi3InstantiateCoSimulation");
    return make("one", token, "", false, false, false, false, 0, 0, 0, 0, 0);
}

static void enter(void *unit, double start)
{
    if (version == 2) {
        int (*setup)(void *, int, double, double, int, double);
        *(void **)&setup = symbol("fmi2SetupExperiment");
        need(setup(unit, 0, 0.0, start, 0, 0.0), "setup");
        int (*enter)(void *);
        *(void **)&enter = symbol("fmi2EnterInitializationMode");
        need(enter(unit), "enter");
        return;
    }
    int (*enter)(void *, bool, double, double, bool, double);
    *(void **)&enter = symbol("fmi3EnterInitializationMode");
    need(enter(unit, false, 0.0, start, false, 0.0), "enter");
}

static void leave(void *unit, const char *name2, const char *name3)
{
    int (*call)(void *);
    *(void **)&call = symbol(version == 2 ? name2 : name3);
    need(call(unit), name2);
}

static void set(void *unit, uint32_t reference, double value)
{
    if (version == 2) {
        int (*put)(void *, const uint32_t *, size_t, const double *);
        *(void **)&put = symbol("fmi2SetReal");
        need(put(unit, &reference, 1, &value), "set");
        return;
    }
    int (*put)(void *, const uint32_t *, size_t, const double *, size_t);
    *(void **)&put = symbol("fmi3SetFloat64");
    need(put(unit, &reference, 1, &value, 1), "set");
}

static double get(void *unit, uint32_t reference)
{
    double value = 0.0;
    if (version == 2) {
        int (*ask)(void *, const uint32_t *, size_t, double *);
        *(void **)&ask = symbol("fmi2GetReal");
        need(ask(unit, &reference, 1, &value), "get");
        return value;
    }
    int (*ask)(void *, const uint32_t *, size_t, double *, size_t);
    *(void **)&ask = symbol("fmi3GetFloat64");
    need(ask(unit, &reference, 1, &value, 1), "get");
    return value;
}

static void step(void *unit, double time, double duration)
{
    if (version == 2) {
        int (*go)(void *, double, double, int);
        *(void **)&go = symbol("fmi2DoStep");
        need(go(unit, time, duration, 1), "step");
        return;
    }
    bool event, terminate, early;
    double reached;
    int (*go)(void *, double, double, bool, bool *, bool *, bool *, double *);
    *(void **)&go = symbol("fmi3DoStep");
    need(go(unit, time, duration, true, &event, &terminate, &early, &reached), "step");
}

int main(int count, char **words)
{
    if (count != 8)
        return 2;
    library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 3;
    }
    version = atoi(words[3]);
    const int instances = atoi(words[4]);
    const uint32_t input = (uint32_t)atoi(words[5]);
    const uint32_t rate = (uint32_t)atoi(words[6]);
    const uint32_t output = (uint32_t)atoi(words[7]);
    size_t rows = 0, room = 1024;
    double *table = malloc(3 * room * sizeof *table);
    while (scanf("%lf %lf %lf", table + 3 * rows, table + 3 * rows + 1, table + 3 * rows + 2) == 3)
        if (++rows == room)
            table = realloc(table, 3 * (room *= 2) * sizeof *table);
    for (int k = 0; k < instances; ++k) {
        const int last = k == instances - 1;
        void *unit = instantiate(words[2]);
        if (!unit) {
            fprintf(stderr, "no instance\n");
            return 4;
        }
        enter(unit, table[0]);
        set(unit, input, table[1]);
        leave(unit, "fmi2ExitInitializationMode", "fmi3ExitInitializationMode");
        if (last)
            printf("%.17g\n", get(unit, output));
        for (size_t i = 0; i + 1 < rows; ++i) {
            set(unit, input, table[3 * i + 1]);
            set(unit, rate, table[3 * i + 2]);
            step(unit, table[3 * i], table[3 * (i + 1)] - table[3 * i]);
            if (last)
                printf("%.17g\n", get(unit, output));
        }
        leave(unit, "fmi2Terminate", "fmi3Terminate");
        void (*release)(void *);
        *(void **)&release = symbol(version == 2 ? "fmi2FreeInstance" : "fmi3FreeInstance");
#ifndef LEAKS /* a leak checker must see what is not freed */
        release(unit);
#endif
    }
    free(table);
    dlclose(library);
    return 0;
}
