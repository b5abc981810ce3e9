/* Torques of robot ${title}, SI units. Written by armtwin; do not edit. */
#ifndef ${name}_H
#define ${name}_H

#define ${name}_JOINTS ${n}

/* Torques on the joints at positions q, speeds v and accelerations a.
 *
 * tau       of bodies, rotors, balancers and what is mounted; gravity is that of the robot's base
 * friction  of steady sliding; it jumps where a speed changes its sign
 *
 * Joints: ${joints}
 */
void ${name}_torques(const double q[${n}], const double v[${n}], const double a[${n}],
    double tau[${n}], double friction[${n}]);

#endif
