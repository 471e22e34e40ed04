// The words of the kernel language that are not C++, and the macros that tell which chip a kernel
// is compiled for. shmem-cc reads the words itself and needs them undefined (it defines
// SYMM_SHMEM_CC); a plain compiler gets macros, so that kernel headers also compile without the
// wrapper. __ubuf__ marks pointers into the unified buffer: a type-level mark, so that overloads
// can tell them from global memory.
#pragma once

#ifndef SYMM_SHMEM_CC
#define __global__
#define __aicore__
#define __gm__
#define __ubuf__ volatile
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __vector__
#define __cube__
#define __mix__(cube, vector)
#define __schedmode__(mode)
#define __launch_bounds__(...)
#define __simt_vf__
#define __simt_callee__
#endif

#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#if __NPU_ARCH__ == 3510
#ifndef __DAV_C310_VEC__
#define __DAV_C310_VEC__ 1
#endif
#else
#ifndef __DAV_C220_VEC__
#define __DAV_C220_VEC__ 1
#endif
#endif

// Written without parentheses by kernels: `if ASCEND_IS_AIV {`. Cube cores are not run, so these
// are constants.
#define ASCEND_IS_AIV (::g_coreType == ::AscendC::AIV)
#define ASCEND_IS_AIC (::g_coreType == ::AscendC::AIC)
#define ASCEND_IS_NOT_AIV (::g_coreType != ::AscendC::AIV)
#define ASCEND_IS_NOT_AIC (::g_coreType != ::AscendC::AIC)
