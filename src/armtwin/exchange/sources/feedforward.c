void ${name}_torques(const double q[${n}], const double v[${n}], const double a[${n}],
    double tau[${n}], double friction[${n}])
{
    double state[3][${n}];
    double *memories[5];
    int k;
    for (k = 0; k < ${n}; k++) {
        state[0][k] = q[k];
        state[1][k] = v[k];
        state[2][k] = a[k];
    }
    for (k = 0; k < 3; k++)
        memories[k] = state[k];
    memories[3] = tau;
    memories[4] = friction;
    compute_torques(memories);
}
