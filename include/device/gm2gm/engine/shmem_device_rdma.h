// Kernel side: the RDMA engine. Requests go on a queue per target PE and are executed
// asynchronously: nothing is complete before aclshmemx_roce_quiet of that PE, a roce barrier,
// aclshmem_quiet or a kernel barrier. Requests to one PE are executed in order. A full queue
// (SHMEM_ENGINE_DEPTH) makes the caller wait. Counts are elements. Both operands are symmetric
// memory. Scratch (buf) and sync_id are what the hardware needs and are not touched here. Original
// calls; kernels only.
#ifndef SHMEM_DEVICE_RDMA_H
#define SHMEM_DEVICE_RDMA_H

#include "device/gm2gm/engine/shmem_device_mte.h"
#include "device/impl/amo_inl.h"
#include "device/impl/barrier_inl.h"
#include "device/shmem_def.h"

// aclshmem_ptr for use with the roce calls: where symmetric ptr lies for pe, or null.
inline void* aclshmem_roce_ptr(void* ptr, int pe) {
  return symm_dev::pointer_to(ptr, pe, "aclshmem_roce_ptr");
}

// Queues the copy of elem_size elements from src of pe to local dst.
template <typename T>
inline void aclshmemx_roce_get_nbi(T* dst, T* src, SYMM_UB T*, size_t elem_size, int pe) {
  symm_dev::engine_get(ACLSHMEM_TRANSPORT_ROCE, dst, src, elem_size, pe, "aclshmemx_roce_get_nbi");
}
template <typename T>
inline void aclshmemx_roce_get_nbi(T* dst, T* src, SYMM_UB T*, size_t elem_size, int pe, uint32_t) {
  symm_dev::engine_get(ACLSHMEM_TRANSPORT_ROCE, dst, src, elem_size, pe, "aclshmemx_roce_get_nbi");
}
template <typename T>
inline void aclshmemx_roce_get_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,
                                   AscendC::LocalTensor<T>, size_t elem_size, int pe) {
  symm_dev::engine_get(ACLSHMEM_TRANSPORT_ROCE, dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, pe,
                       "aclshmemx_roce_get_nbi");
}
template <typename T>
inline void aclshmemx_roce_get_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,
                                   AscendC::LocalTensor<T>, size_t elem_size, int pe, uint32_t) {
  symm_dev::engine_get(ACLSHMEM_TRANSPORT_ROCE, dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, pe,
                       "aclshmemx_roce_get_nbi");
}

// Queues the copy of elem_size elements from local src to dst of pe. src is busy until the quiet.
template <typename T>
inline void aclshmemx_roce_put_nbi(T* dst, T* src, SYMM_UB T*, size_t elem_size, int pe) {
  symm_dev::engine_put(ACLSHMEM_TRANSPORT_ROCE, dst, src, elem_size, pe, "aclshmemx_roce_put_nbi");
}
template <typename T>
inline void aclshmemx_roce_put_nbi(T* dst, T* src, SYMM_UB T*, size_t elem_size, int pe, uint32_t) {
  symm_dev::engine_put(ACLSHMEM_TRANSPORT_ROCE, dst, src, elem_size, pe, "aclshmemx_roce_put_nbi");
}
template <typename T>
inline void aclshmemx_roce_put_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,
                                   AscendC::LocalTensor<T>, size_t elem_size, int pe) {
  symm_dev::engine_put(ACLSHMEM_TRANSPORT_ROCE, dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, pe,
                       "aclshmemx_roce_put_nbi");
}
template <typename T>
inline void aclshmemx_roce_put_nbi(AscendC::GlobalTensor<T> dst, AscendC::GlobalTensor<T> src,
                                   AscendC::LocalTensor<T>, size_t elem_size, int pe, uint32_t) {
  symm_dev::engine_put(ACLSHMEM_TRANSPORT_ROCE, dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, pe,
                       "aclshmemx_roce_put_nbi");
}

// Blocks until every request to pe that was queued before is complete, helping the engine.
template <typename T>
inline void aclshmemx_roce_quiet(uint32_t pe, SYMM_UB T*, uint32_t) {
  symm_dev::quiet_engine(symm_dev::state("aclshmemx_roce_quiet"), ACLSHMEM_TRANSPORT_ROCE,
                         static_cast<int>(pe), "aclshmemx_roce_quiet");
}

// Synchronisation of a team, called by ONE vector core per member PE: returns when every member has
// entered. sync completes nothing that is queued; barrier first waits for this PE's requests to
// every member, so data put before it is visible to all members after it. team: from
// aclshmemi_get_state()->team_pools. Returns 0, at once for a PE that is no member. A lost PE ends
// the kernel with a message. Uses the numbers of the other barriers of the team: do not run two at
// once.
inline int aclshmemx_roce_team_sync(aclshmemx_team_t* team) {
  return symm_dev::engine_barrier(team, false, "aclshmemx_roce_team_sync");
}
template <typename T>
inline int aclshmemx_roce_team_sync(aclshmemx_team_t* team, SYMM_UB T*, uint32_t) {
  return aclshmemx_roce_team_sync(team);
}
inline int aclshmemx_roce_barrier(aclshmemx_team_t* team) {
  return symm_dev::engine_barrier(team, true, "aclshmemx_roce_barrier");
}
template <typename T>
inline int aclshmemx_roce_barrier(aclshmemx_team_t* team, SYMM_UB T*, uint32_t) {
  return aclshmemx_roce_barrier(team);
}
// The same for the world team.
inline void aclshmemx_roce_sync_all() {
  symm_dev::engine_barrier(symm_dev::world("aclshmemx_roce_sync_all"), false,
                           "aclshmemx_roce_sync_all");
}
template <typename T>
inline void aclshmemx_roce_sync_all(SYMM_UB T*, uint32_t) {
  aclshmemx_roce_sync_all();
}
inline void aclshmemx_roce_barrier_all() {
  symm_dev::engine_barrier(symm_dev::world("aclshmemx_roce_barrier_all"), true,
                           "aclshmemx_roce_barrier_all");
}
template <typename T>
inline void aclshmemx_roce_barrier_all(SYMM_UB T*, uint32_t) {
  aclshmemx_roce_barrier_all();
}

// Atomics on one element of pe (4 or 8 bytes), in order with the other requests to that PE. Those
// that return nothing are complete after aclshmemx_roce_quiet; the others wait for every request to
// that PE.
template <typename T>
inline T aclshmemx_roce_atomic_fetch(T* src, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_FETCH, src, T(), T(), pe,
                                  "aclshmemx_roce_atomic_fetch");
}
template <typename T>
inline void aclshmemx_roce_atomic_set(T* dst, T value, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_STORE, dst, value, pe,
                            "aclshmemx_roce_atomic_set");
}
template <typename T>
inline T aclshmemx_roce_atomic_compare_swap(T* dst, T cond, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_CAS, dst, value, cond, pe,
                                  "aclshmemx_roce_atomic_compare_swap");
}
template <typename T>
inline T aclshmemx_roce_atomic_swap(T* dst, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_SWAP, dst, value, T(), pe,
                                  "aclshmemx_roce_atomic_swap");
}
template <typename T>
inline void aclshmemx_roce_atomic_inc(T* dst, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_ADD, dst, T(1), pe,
                            "aclshmemx_roce_atomic_inc");
}
template <typename T>
inline void aclshmemx_roce_atomic_add(T* dst, T value, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_ADD, dst, value, pe,
                            "aclshmemx_roce_atomic_add");
}
template <typename T>
inline void aclshmemx_roce_atomic_and(T* dst, T value, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_AND, dst, value, pe,
                            "aclshmemx_roce_atomic_and");
}
template <typename T>
inline void aclshmemx_roce_atomic_or(T* dst, T value, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_OR, dst, value, pe,
                            "aclshmemx_roce_atomic_or");
}
template <typename T>
inline void aclshmemx_roce_atomic_xor(T* dst, T value, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_XOR, dst, value, pe,
                            "aclshmemx_roce_atomic_xor");
}
template <typename T>
inline T aclshmemx_roce_atomic_fetch_inc(T* dst, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_ADD, dst, T(1), T(), pe,
                                  "aclshmemx_roce_atomic_fetch_inc");
}
template <typename T>
inline T aclshmemx_roce_atomic_fetch_add(T* dst, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_ADD, dst, value, T(), pe,
                                  "aclshmemx_roce_atomic_fetch_add");
}
template <typename T>
inline T aclshmemx_roce_atomic_fetch_and(T* dst, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_AND, dst, value, T(), pe,
                                  "aclshmemx_roce_atomic_fetch_and");
}
template <typename T>
inline T aclshmemx_roce_atomic_fetch_or(T* dst, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_OR, dst, value, T(), pe,
                                  "aclshmemx_roce_atomic_fetch_or");
}
template <typename T>
inline T aclshmemx_roce_atomic_fetch_xor(T* dst, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_ROCE, SYMM_DESC_XOR, dst, value, T(), pe,
                                  "aclshmemx_roce_atomic_fetch_xor");
}

#define aclshmemx_roce_sync aclshmemx_roce_team_sync
#define shmem_roce_ptr aclshmem_roce_ptr
#define shmem_roce_get_mem_nbi aclshmemx_roce_get_nbi
#define shmem_roce_put_mem_nbi aclshmemx_roce_put_nbi

#endif
