/* The state of a unit: plain numbers, so that it can be copied, saved and restored. */

typedef struct {
    double numbers[N_NUMBERS]; /* parameters, inputs, states, outputs */
    double kept[N_KEPT];       /* what follows from the parameters alone */
    double time;               /* [s] */
    double start;              /* [s] */
    RINGS                      /* set-points and pasts */
} State;

/* what variables are for: whether a host may set them, and when */
enum { INDEPENDENT, PARAMETER, INPUT, OUTPUT, CONTINUOUS, DERIVATIVE };
