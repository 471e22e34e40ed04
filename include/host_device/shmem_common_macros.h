// Lists of types and sizes from which the function families are made. Every list in the project is
// in this file; each header picks the one that is visible as ACLSHMEM_TYPE_FUNC while it is read.
#ifndef SHMEM_COMMON_MACROS_H
#define SHMEM_COMMON_MACROS_H

// Kernel translation units see the device functions under the names that host and device share.
#if defined(__CCE_AICORE__) || defined(__CCE_KT_TEST__)
#define SYMM_KERNEL_TU 1
#endif

// Sizes in bits of the sized RMA families.
#define ACLSHMEM_SIZE_FUNC(FUNC) \
  FUNC(8);                       \
  FUNC(16);                      \
  FUNC(32);                      \
  FUNC(64);                      \
  FUNC(128)

// NAME, C type of the typed RMA families on the host.
#define SYMM_HOST_TYPES(FUNC) \
  FUNC(float, float);         \
  FUNC(double, double);       \
  FUNC(int8, int8_t);         \
  FUNC(int16, int16_t);       \
  FUNC(int32, int32_t);       \
  FUNC(int64, int64_t);       \
  FUNC(uint8, uint8_t);       \
  FUNC(uint16, uint16_t);     \
  FUNC(uint32, uint32_t);     \
  FUNC(uint64, uint64_t);     \
  FUNC(char, char)

// NAME, C type of the typed RMA families in kernels.
#define SYMM_DEVICE_TYPES(FUNC) \
  FUNC(half, half);             \
  FUNC(float, float);           \
  FUNC(double, double);         \
  FUNC(int8, int8_t);           \
  FUNC(int16, int16_t);         \
  FUNC(int32, int32_t);         \
  FUNC(int64, int64_t);         \
  FUNC(uint8, uint8_t);         \
  FUNC(uint16, uint16_t);       \
  FUNC(uint32, uint32_t);       \
  FUNC(uint64, uint64_t);       \
  FUNC(char, char);             \
  FUNC(bfloat16, bfloat16_t)

// NAME, C type of the wait and test families, host and device.
#define ACLSHMEM_P2P_SYNC_TYPE_FUNC(FUNC) \
  FUNC(float, float);                     \
  FUNC(int8, int8_t);                     \
  FUNC(int16, int16_t);                   \
  FUNC(int32, int32_t);                   \
  FUNC(int64, int64_t);                   \
  FUNC(uint8, uint8_t);                   \
  FUNC(uint16, uint16_t);                 \
  FUNC(uint32, uint32_t);                 \
  FUNC(uint64, uint64_t);                 \
  FUNC(char, char)

// NAME, C type of the atomics on the host: the standard, extended and bitwise sets of
// OpenSHMEM 1.5.
#define SYMM_AMO_TYPES(FUNC)           \
  FUNC(int, int);                      \
  FUNC(long, long);                    \
  FUNC(longlong, long long);           \
  FUNC(uint, unsigned int);            \
  FUNC(ulong, unsigned long);          \
  FUNC(ulonglong, unsigned long long); \
  FUNC(int32, int32_t);                \
  FUNC(int64, int64_t);                \
  FUNC(uint32, uint32_t);              \
  FUNC(uint64, uint64_t);              \
  FUNC(size, size_t);                  \
  FUNC(ptrdiff, ptrdiff_t)
#define SYMM_AMO_FLOAT_TYPES(FUNC) \
  FUNC(float, float);              \
  FUNC(double, double)
#define SYMM_AMO_EXTENDED_TYPES(FUNC) \
  SYMM_AMO_TYPES(FUNC);               \
  SYMM_AMO_FLOAT_TYPES(FUNC)
#define SYMM_AMO_BITWISE_TYPES(FUNC)   \
  FUNC(uint, unsigned int);            \
  FUNC(ulong, unsigned long);          \
  FUNC(ulonglong, unsigned long long); \
  FUNC(int32, int32_t);                \
  FUNC(int64, int64_t);                \
  FUNC(uint32, uint32_t);              \
  FUNC(uint64, uint64_t)

#endif
