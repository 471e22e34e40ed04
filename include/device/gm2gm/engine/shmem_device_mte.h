// Kernel side: the MTE engine between global memories. The core copies itself, so these calls are
// done when they return; aclshmemx_mte_quiet orders them. Scratch (buf, ub_size) and sync_id are
// what the hardware needs and are not touched here. Counts are elements. A PE that is not mapped
// (another host) ends the kernel with a message. Original calls.
#ifndef SHMEM_DEVICE_MTE_H
#define SHMEM_DEVICE_MTE_H

#include "device/impl/amo_inl.h"
#include "device/impl/config_inl.h"
#include "device/impl/host_dual.h"
#include "device/impl/rma_inl.h"
#include "device/shmem_def.h"

SYMM_HOST(void*, aclshmem_ptr, (void* ptr, int pe));

namespace symm_dev {

inline void* pointer_to(void* address, int pe, const char* call) {
  const symm_device_state* s = state(call);
  if (static_cast<uint32_t>(pe) >= static_cast<uint32_t>(s->base.npes)) return nullptr;
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  const uintptr_t offset = at - reinterpret_cast<uintptr_t>(s->base.heap_base);
  if (offset < s->heap_limit) {
    char* base = static_cast<char*>(s->peer_heap[pe]);
    return base == nullptr ? nullptr : base + offset;
  }
  const uintptr_t host_offset = at - reinterpret_cast<uintptr_t>(s->host_heap);
  if (s->host_heap == nullptr || host_offset >= s->host_heap_limit) {
    return s->find_space != nullptr ? s->find_space(s->owner, address, 1, pe) : nullptr;
  }
  char* base = static_cast<char*>(s->peer_host_heap[pe]);
  return base == nullptr ? nullptr : base + host_offset;
}

}  // namespace symm_dev

// Where symmetric address ptr (device or HOST_SIDE heap) lies for PE pe, as mapped here, for loads
// and stores; null when pe is out of range or not mapped, or ptr is not symmetric. Does not block.
// OpenSHMEM shmem_ptr. Host and kernel.
inline void* aclshmem_ptr(void* ptr, int pe) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmem_ptr(ptr, pe);
  return symm_dev::pointer_to(ptr, pe, "aclshmem_ptr");
}

// Copies elem_size elements from symmetric src of pe to local dst.
template <typename T>
inline void aclshmemx_mte_get_nbi(T* dst, T* src, SYMM_UB T*, uint32_t, size_t elem_size, int pe,
                                  uint32_t) {
  symm_dev::mte_get(dst, src, elem_size, pe, "aclshmemx_mte_get_nbi");
}
// Rows; copy_params counts elements.
template <typename T>
inline void aclshmemx_mte_get_nbi(T* dst, T* src, SYMM_UB T*, uint32_t,
                                  const non_contiguous_copy_param& copy_params, int pe, uint32_t) {
  symm_dev::mte_get_rows(dst, src, copy_params, pe, "aclshmemx_mte_get_nbi");
}
template <typename T>
inline void aclshmemx_mte_get_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,
                                  AscendC::LocalTensor<T>, size_t elem_size, int pe, uint32_t) {
  symm_dev::mte_get(dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, pe, "aclshmemx_mte_get_nbi");
}
template <typename T>
inline void aclshmemx_mte_get_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,
                                  AscendC::LocalTensor<T>,
                                  const non_contiguous_copy_param& copy_params, int pe, uint32_t) {
  symm_dev::mte_get_rows(dst.GetPhyAddr(), src.GetPhyAddr(), copy_params, pe,
                         "aclshmemx_mte_get_nbi");
}

// Copies elem_size elements from local src to symmetric dst of pe.
template <typename T>
inline void aclshmemx_mte_put_nbi(T* dst, T* src, SYMM_UB T*, uint32_t, size_t elem_size, int pe,
                                  uint32_t) {
  symm_dev::mte_put(dst, src, elem_size, pe, "aclshmemx_mte_put_nbi");
}
// Rows; copy_params counts elements.
template <typename T>
inline void aclshmemx_mte_put_nbi(T* dst, T* src, SYMM_UB T*, uint32_t,
                                  const non_contiguous_copy_param& copy_params, int pe, uint32_t) {
  symm_dev::mte_put_rows(dst, src, copy_params, pe, "aclshmemx_mte_put_nbi");
}
template <typename T>
inline void aclshmemx_mte_put_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,
                                  AscendC::LocalTensor<T>, size_t elem_size, int pe, uint32_t) {
  symm_dev::mte_put(dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, pe, "aclshmemx_mte_put_nbi");
}
template <typename T>
inline void aclshmemx_mte_put_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,
                                  AscendC::LocalTensor<T>,
                                  const non_contiguous_copy_param& copy_params, int pe, uint32_t) {
  symm_dev::mte_put_rows(dst.GetPhyAddr(), src.GetPhyAddr(), copy_params, pe,
                         "aclshmemx_mte_put_nbi");
}

// Orders the calling core's earlier MTE operations and plain stores before everything after.
// Transfers on the queues of the RDMA, SDMA and UDMA engines are not covered.
inline void aclshmemx_mte_quiet() {
  symm_dev::polled();
  symm_dev::state("aclshmemx_mte_quiet");
  symm_dev::mte_quiet();
}

// Atomics on one element of pe, done by the core with processor atomics; complete on return and
// sequentially consistent. Integers of 1, 2, 4 or 8 bytes, float, double, half, bfloat16_t.
template <typename T>
inline T aclshmemx_mte_atomic_fetch(T* src, int32_t pe) {
  return symm_dev::mte_atomic(SYMM_DESC_FETCH, src, T(), T(), pe, "aclshmemx_mte_atomic_fetch");
}
template <typename T>
inline void aclshmemx_mte_atomic_set(T* dst, T value, int32_t pe) {
  symm_dev::mte_atomic(SYMM_DESC_SWAP, dst, value, T(), pe, "aclshmemx_mte_atomic_set");
}
// Returns the old value; stores value if the old one equals cond.
template <typename T>
inline T aclshmemx_mte_atomic_compare_swap(T* dst, T cond, T value, int32_t pe) {
  return symm_dev::mte_atomic(SYMM_DESC_CAS, dst, value, cond, pe,
                              "aclshmemx_mte_atomic_compare_swap");
}
template <typename T>
inline T aclshmemx_mte_atomic_swap(T* dst, T value, int32_t pe) {
  return symm_dev::mte_atomic(SYMM_DESC_SWAP, dst, value, T(), pe, "aclshmemx_mte_atomic_swap");
}
template <typename T>
inline void aclshmemx_mte_atomic_inc(T* dst, int32_t pe) {
  symm_dev::mte_atomic(SYMM_DESC_ADD, dst, T(1), T(), pe, "aclshmemx_mte_atomic_inc");
}
template <typename T>
inline void aclshmemx_mte_atomic_add(T* dst, T value, int32_t pe) {
  symm_dev::mte_atomic(SYMM_DESC_ADD, dst, value, T(), pe, "aclshmemx_mte_atomic_add");
}
template <typename T>
inline T aclshmemx_mte_atomic_fetch_inc(T* dst, int32_t pe) {
  return symm_dev::mte_atomic(SYMM_DESC_ADD, dst, T(1), T(), pe, "aclshmemx_mte_atomic_fetch_inc");
}
template <typename T>
inline T aclshmemx_mte_atomic_fetch_add(T* dst, T value, int32_t pe) {
  return symm_dev::mte_atomic(SYMM_DESC_ADD, dst, value, T(), pe, "aclshmemx_mte_atomic_fetch_add");
}

#define shmem_ptr aclshmem_ptr
#define shmem_mte_get_mem_nbi aclshmemx_mte_get_nbi
#define shmem_mte_put_mem_nbi aclshmemx_mte_put_nbi

#endif
