// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <lo/lo.h>
#include <math.h>

/// Returns an argument as a number; NaN if it is not numeric. Swift cannot read the union `lo_arg`.
static inline double liblo_number(char type, const lo_arg *argument) {
  switch (type) {
  case LO_FLOAT: return argument->f;
  case LO_DOUBLE: return argument->d;
  case LO_INT32: return argument->i;
  case LO_INT64: return (double)argument->h;
  default: return NAN;
  }
}
