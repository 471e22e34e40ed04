// A mutation of the allgather: every put leaves the first byte of the slice as it was at the
// target.
#pragma once

#include <kernel_operator.h>
#include <shmem.h>

template <typename T>
inline __aicore__ void put_without_first_byte(AscendC::GlobalTensor<T> target,
                                              AscendC::GlobalTensor<T> source,
                                              AscendC::LocalTensor<T> scratch, uint32_t elements,
                                              int pe, uint32_t sync_id) {
  auto to = reinterpret_cast<__gm__ uint8_t*>(target.GetPhyAddr()) + 1;
  auto from = reinterpret_cast<__gm__ uint8_t*>(source.GetPhyAddr()) + 1;
  auto buffer = reinterpret_cast<__ubuf__ uint8_t*>(scratch.GetPhyAddr());
  const uint32_t bytes = elements * static_cast<uint32_t>(sizeof(T)) - 1;
  aclshmemx_roce_put_nbi(to, from, buffer, bytes, pe, sync_id);
}

#define aclshmemx_roce_put_nbi put_without_first_byte
