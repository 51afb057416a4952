/* States of a robot, coordinates and then rates, and the tangent space of these: see states.c. */
#ifndef STATES_H
#define STATES_H

#include <stddef.h>

void difference(const double *a, size_t a_apart, const double *b, size_t b_apart, double *away,
                size_t apart);
void differences(size_t count, const double *a, const double *b, double *away);
void integrated(size_t count, const double *a, const double *way, double *b);
size_t difference_jacobian(size_t joint, const double *away, size_t *dof, double *J);

#endif
