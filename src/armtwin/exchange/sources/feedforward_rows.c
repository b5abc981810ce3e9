#include "${name}.c"

#if defined(_WIN32)
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
void rows(const double *q, const double *v, const double *a, double *tau, double *friction, long m)
{
    long k;
    for (k = 0; k < ${n} * m; k += ${n})
        ${name}_torques(q + k, v + k, a + k, tau + k, friction + k);
}
