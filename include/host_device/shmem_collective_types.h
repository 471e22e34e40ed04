// Operations and element types of the collectives that name them by value.
#ifndef SHMEM_COLLECTIVE_TYPES_H
#define SHMEM_COLLECTIVE_TYPES_H

enum aclshmemx_reduce_op_t {
  ACLSHMEMX_SUM = 0,
  ACLSHMEMX_MAX = 1,
  ACLSHMEMX_MIN = 2,
};

enum aclshmemx_data_type_t {
  ACLSHMEMX_INT8 = 0,
  ACLSHMEMX_INT16 = 1,
  ACLSHMEMX_INT32 = 2,
  ACLSHMEMX_INT64 = 3,
  ACLSHMEMX_UINT8 = 4,
  ACLSHMEMX_UINT16 = 5,
  ACLSHMEMX_UINT32 = 6,
  ACLSHMEMX_UINT64 = 7,
  ACLSHMEMX_FLOAT16 = 8,
  ACLSHMEMX_BFLOAT16 = 9,
  ACLSHMEMX_FLOAT32 = 10,
  ACLSHMEMX_FLOAT64 = 11,
};

#endif
