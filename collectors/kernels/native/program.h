/* What the generated programs use, and what describes them to operators.c. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ort_abi.h"

typedef struct Shape {
  size_t axes;
  const int64_t *sizes;
} Shape;

/* One kernel: `shapes` are those of the operands, then that of the result. `run` does one of so many
 * parts; its arrays are the result, the operands and scratch memory. */
typedef struct Program {
  void (*run)(float *const *arrays, intptr_t part);
  size_t operands, parts, scratch_floats;
  const Shape *shapes;
} Program;

static inline float of_bits(int32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* The sum may be taken in any order, and so in wide vectors. */
static inline float total(const float *line, intptr_t length) {
  float found = 0.0f;
#pragma omp simd reduction(+ : found)
  for (intptr_t i = 0; i < length; i++) found += line[i];
  return found;
}

/* The largest value by lanes that do not wait for each other. NaN is never the largest. */
static inline float largest(const float *line, intptr_t length) {
  enum { LANES = 16 };
  float lanes[LANES], found = -INFINITY;
  intptr_t at = 0;
  for (int lane = 0; lane < LANES; lane++) lanes[lane] = -INFINITY;
  for (; at + LANES <= length; at += LANES) {
#pragma omp simd
    for (int lane = 0; lane < LANES; lane++) {
      lanes[lane] = line[at + lane] > lanes[lane] ? line[at + lane] : lanes[lane];
    }
  }
  for (; at < length; at++) found = line[at] > found ? line[at] : found;
  for (int lane = 0; lane < LANES; lane++) found = lanes[lane] > found ? lanes[lane] : found;
  return found;
}
