/* The variables that name the running SIMT lane. Set by the runtime whenever a lane goes on;
 * kernels only read them. */
#ifndef SYMM_SIMT_ABI_H
#define SYMM_SIMT_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct symm_index3 {
  uint32_t x;
  uint32_t y;
  uint32_t z;
} symm_index3;

extern __thread symm_index3 threadIdx; /* lane within the core */
extern __thread symm_index3 blockIdx;  /* x: number of the core */
extern __thread symm_index3 blockDim;  /* lanes of the core */
extern __thread symm_index3 gridDim;   /* x: cores of the launch */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
