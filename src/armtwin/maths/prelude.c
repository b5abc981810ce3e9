#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#define APART __attribute__((noinline)) static
#else
#define INLINED static inline
#define APART static
#endif

/* a b + c, rounded once where it is fused */
#define FUSED(a, b, c) (fused ? fma(a, b, c) : (a) * (b) + (c))

/* A stage from its body: fused where the processor can, never if UNFUSED is defined */
#if defined(UNFUSED)
#define STAGE(name) APART void name(double *const *m) { name##_body(m, 0); }
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define STAGE(name) APART void name(double *const *m) { name##_body(m, 1); }
#elif defined(__GNUC__) && defined(__x86_64__)
#define STAGE(name)                                                               \
    __attribute__((target("avx2,fma"))) APART void name##_fused(double *const *m) \
    {                                                                             \
        name##_body(m, 1);                                                        \
    }                                                                             \
    APART void name##_plain(double *const *m) { name##_body(m, 0); }              \
    static void name(double *const *m)                                            \
    {                                                                             \
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))      \
            name##_fused(m);                                                      \
        else                                                                      \
            name##_plain(m);                                                      \
    }
#else
#define STAGE(name) APART void name(double *const *m) { name##_body(m, 0); }
#endif

INLINED uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINED double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* the largest number with few leading bits that is not above x, for x > 0 */
INLINED double coarse(double x)
{
    return double_of(bits_of(x) >> $DROPPED << $DROPPED);
}

/* count of such numbers up to x, for x > 0 */
INLINED int64_t rank_of(double x)
{
    return (int64_t)(bits_of(x) >> $DROPPED);
}

/* for angles up to $LARGEST_IN_WORDS rad */
$NEAR_SINE

$NEAR_COSINE

INLINED int is_near(double x)
{
    return fabs(x) <= $LARGEST;
}

INLINED double sine_of(double x, int fused)
{
    return is_near(x) ? near_sine(x, fused) : sin(x);
}

INLINED double cosine_of(double x, int fused)
{
    return is_near(x) ? near_cosine(x, fused) : cos(x);
}

/* of several angles side by side */
INLINED void turn(int count, const double *angles, double *sines, double *cosines, int fused)
{
    int all_near = 1;
    for (int k = 0; k < count; ++k) {
        sines[k] = near_sine(angles[k], fused);
        cosines[k] = near_cosine(angles[k], fused);
    }
    for (int k = 0; k < count; ++k)
        all_near &= is_near(angles[k]);
    for (int k = 0; !all_near && k < count; ++k) {
        sines[k] = sine_of(angles[k], fused);
        cosines[k] = cosine_of(angles[k], fused);
    }
}
