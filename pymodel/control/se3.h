/* Logarithms of placements and how they change: see se3.c. */
#ifndef SE3_H
#define SE3_H

#include <stddef.h>

void log6(size_t count, const double *R, const double *p, double *twist);
void jacobian_log6(size_t count, const double *twist, double *out);

#endif
