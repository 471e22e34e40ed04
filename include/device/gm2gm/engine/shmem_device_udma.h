// Kernel side: the UDMA engine. Requests go on a queue per target PE and are executed
// asynchronously and in order per PE; nothing is complete before aclshmemx_udma_quiet of that PE,
// aclshmem_quiet or a kernel barrier. A full queue (SHMEM_ENGINE_DEPTH) makes the caller wait.
// Counts are elements. Scratch (buf), sync_id and the pipe (PIPE_MTE3 or PIPE_S) are what the
// hardware needs and change nothing here. Original calls; kernels only.
#ifndef SHMEM_DEVICE_UDMA_H
#define SHMEM_DEVICE_UDMA_H

#include "device/impl/amo_inl.h"
#include "device/shmem_def.h"

namespace symm_dev {

template <pipe_t pipe>
constexpr void check_udma_pipe() {
  static_assert(pipe == PIPE_MTE3 || pipe == PIPE_S,
                "UDMA requests are issued by PIPE_MTE3 or PIPE_S");
}

// A transfer through a third PE: the relay must be neither end. Here the data takes the direct way.
inline bool relay_is_valid(const symm_device_state* s, int pe, int relay_pe) {
  const int n = s->base.npes;
  const int me = s->base.mype;
  return pe >= 0 && pe < n && relay_pe >= 0 && relay_pe < n && pe != relay_pe && pe != me &&
         relay_pe != me;
}

}  // namespace symm_dev

// Queues the copy of elem_size elements from symmetric src of pe to local dst.
template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>
inline void aclshmemx_udma_get_nbi(T* dst, T* src, SYMM_UB T*, size_t elem_size, int pe,
                                   uint32_t = 0) {
  symm_dev::check_udma_pipe<WQE_PIPE>();
  symm_dev::engine_get(ACLSHMEM_TRANSPORT_UDMA, dst, src, elem_size, pe, "aclshmemx_udma_get_nbi");
}
template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>
inline void aclshmemx_udma_get_nbi(const AscendC::GlobalTensor<T>& dst,
                                   const AscendC::GlobalTensor<T>& src,
                                   const AscendC::LocalTensor<T>&, size_t elem_size, int pe,
                                   uint32_t = 0) {
  symm_dev::check_udma_pipe<WQE_PIPE>();
  symm_dev::engine_get(ACLSHMEM_TRANSPORT_UDMA, dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, pe,
                       "aclshmemx_udma_get_nbi");
}

// Queues the copy of elem_size elements from local src to symmetric dst of pe. src is busy until
// the quiet.
template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>
inline void aclshmemx_udma_put_nbi(T* dst, T* src, SYMM_UB T*, size_t elem_size, int pe,
                                   uint32_t = 0) {
  symm_dev::check_udma_pipe<WQE_PIPE>();
  symm_dev::engine_put(ACLSHMEM_TRANSPORT_UDMA, dst, src, elem_size, pe, "aclshmemx_udma_put_nbi");
}
template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>
inline void aclshmemx_udma_put_nbi(const AscendC::GlobalTensor<T>& dst,
                                   const AscendC::GlobalTensor<T>& src,
                                   const AscendC::LocalTensor<T>&, size_t elem_size, int pe,
                                   uint32_t = 0) {
  symm_dev::check_udma_pipe<WQE_PIPE>();
  symm_dev::engine_put(ACLSHMEM_TRANSPORT_UDMA, dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, pe,
                       "aclshmemx_udma_put_nbi");
}

// put with pe routed through relay_pe. pe, relay_pe and this PE must all differ, else nothing is
// queued.
template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>
inline void aclshmemx_udma_relay_put_nbi(T* dst, T* src, SYMM_UB T* buf, size_t elem_size, int pe,
                                         int relay_pe, uint32_t = 0) {
  if (!symm_dev::relay_is_valid(symm_dev::state("aclshmemx_udma_relay_put_nbi"), pe, relay_pe))
    return;
  aclshmemx_udma_put_nbi<T, WQE_PIPE>(dst, src, buf, elem_size, pe);
}
template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>
inline void aclshmemx_udma_relay_put_nbi(const AscendC::GlobalTensor<T>& dst,
                                         const AscendC::GlobalTensor<T>& src,
                                         const AscendC::LocalTensor<T>& buf, size_t elem_size,
                                         int pe, int relay_pe, uint32_t = 0) {
  if (!symm_dev::relay_is_valid(symm_dev::state("aclshmemx_udma_relay_put_nbi"), pe, relay_pe))
    return;
  aclshmemx_udma_put_nbi<T, WQE_PIPE>(dst, src, buf, elem_size, pe);
}

// get with pe routed through relay_pe. pe, relay_pe and this PE must all differ, else nothing is
// queued.
template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>
inline void aclshmemx_udma_relay_get_nbi(T* dst, T* src, SYMM_UB T* buf, size_t elem_size, int pe,
                                         int relay_pe, uint32_t = 0) {
  if (!symm_dev::relay_is_valid(symm_dev::state("aclshmemx_udma_relay_get_nbi"), pe, relay_pe))
    return;
  aclshmemx_udma_get_nbi<T, WQE_PIPE>(dst, src, buf, elem_size, pe);
}
template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>
inline void aclshmemx_udma_relay_get_nbi(const AscendC::GlobalTensor<T>& dst,
                                         const AscendC::GlobalTensor<T>& src,
                                         const AscendC::LocalTensor<T>& buf, size_t elem_size,
                                         int pe, int relay_pe, uint32_t = 0) {
  if (!symm_dev::relay_is_valid(symm_dev::state("aclshmemx_udma_relay_get_nbi"), pe, relay_pe))
    return;
  aclshmemx_udma_get_nbi<T, WQE_PIPE>(dst, src, buf, elem_size, pe);
}

// Queues the copy and, behind it, the store of the 64-bit signal to sig_addr of pe: who sees the
// signal sees the data.
template <typename T>
inline void aclshmemx_udma_put_signal_nbi(T* dst, T* src, size_t elem_size, uint64_t* sig_addr,
                                          uint64_t signal, int pe) {
  symm_dev::engine_put(ACLSHMEM_TRANSPORT_UDMA, dst, src, elem_size, pe,
                       "aclshmemx_udma_put_signal_nbi");
  symm_dev::queue_atomic<uint64_t>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_STORE, sig_addr, signal, pe,
                                   "aclshmemx_udma_put_signal_nbi");
}
template <typename T, pipe_t WQE_PIPE = PIPE_MTE3>
inline void aclshmemx_udma_put_signal_nbi(T* dst, T* src, size_t elem_size, uint64_t* sig_addr,
                                          uint64_t signal, int pe, SYMM_UB uint8_t*, uint32_t = 0) {
  symm_dev::check_udma_pipe<WQE_PIPE>();
  aclshmemx_udma_put_signal_nbi<T>(dst, src, elem_size, sig_addr, signal, pe);
}

// Blocks until every request to pe that was queued before is complete, helping the engine.
inline void aclshmemx_udma_quiet(int pe) {
  symm_dev::quiet_engine(symm_dev::state("aclshmemx_udma_quiet"), ACLSHMEM_TRANSPORT_UDMA, pe,
                         "aclshmemx_udma_quiet");
}

// Adds value to one element of pe; complete after aclshmemx_udma_quiet(pe). Integers of 4 or 8
// bytes, float.
template <typename T>
inline void aclshmemx_udma_atomic_add(T* dst, T value, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_ADD, dst, value, pe,
                            "aclshmemx_udma_atomic_add");
}

// Atomics on one element of pe (4 or 8 bytes), in order with the other requests to that PE;
// complete when they return. Those that return a value return the old one.
template <typename T>
inline T aclshmemx_udma_atomic_fetch(T* src, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_FETCH, src, T(), T(), pe,
                                  "aclshmemx_udma_atomic_fetch");
}
template <typename T>
inline void aclshmemx_udma_atomic_set(T* dst, T value, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_STORE, dst, value, pe,
                            "aclshmemx_udma_atomic_set");
  symm_dev::quiet_engine(symm_dev::state("aclshmemx_udma_atomic_set"), ACLSHMEM_TRANSPORT_UDMA, pe,
                         "aclshmemx_udma_atomic_set");
}
template <typename T>
inline T aclshmemx_udma_atomic_compare_swap(T* dst, T cond, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_CAS, dst, value, cond, pe,
                                  "aclshmemx_udma_atomic_compare_swap");
}
template <typename T>
inline T aclshmemx_udma_atomic_swap(T* dst, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_SWAP, dst, value, T(), pe,
                                  "aclshmemx_udma_atomic_swap");
}
template <typename T>
inline void aclshmemx_udma_atomic_inc(T* dst, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_ADD, dst, T(1), pe,
                            "aclshmemx_udma_atomic_inc");
  symm_dev::quiet_engine(symm_dev::state("aclshmemx_udma_atomic_inc"), ACLSHMEM_TRANSPORT_UDMA, pe,
                         "aclshmemx_udma_atomic_inc");
}
template <typename T>
inline void aclshmemx_udma_atomic_and(T* dst, T value, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_AND, dst, value, pe,
                            "aclshmemx_udma_atomic_and");
  symm_dev::quiet_engine(symm_dev::state("aclshmemx_udma_atomic_and"), ACLSHMEM_TRANSPORT_UDMA, pe,
                         "aclshmemx_udma_atomic_and");
}
template <typename T>
inline void aclshmemx_udma_atomic_or(T* dst, T value, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_OR, dst, value, pe,
                            "aclshmemx_udma_atomic_or");
  symm_dev::quiet_engine(symm_dev::state("aclshmemx_udma_atomic_or"), ACLSHMEM_TRANSPORT_UDMA, pe,
                         "aclshmemx_udma_atomic_or");
}
template <typename T>
inline void aclshmemx_udma_atomic_xor(T* dst, T value, int32_t pe) {
  symm_dev::queue_atomic<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_XOR, dst, value, pe,
                            "aclshmemx_udma_atomic_xor");
  symm_dev::quiet_engine(symm_dev::state("aclshmemx_udma_atomic_xor"), ACLSHMEM_TRANSPORT_UDMA, pe,
                         "aclshmemx_udma_atomic_xor");
}
template <typename T>
inline T aclshmemx_udma_atomic_fetch_inc(T* dst, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_ADD, dst, T(1), T(), pe,
                                  "aclshmemx_udma_atomic_fetch_inc");
}
template <typename T>
inline T aclshmemx_udma_atomic_fetch_add(T* dst, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_ADD, dst, value, T(), pe,
                                  "aclshmemx_udma_atomic_fetch_add");
}
template <typename T>
inline T aclshmemx_udma_atomic_fetch_and(T* dst, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_AND, dst, value, T(), pe,
                                  "aclshmemx_udma_atomic_fetch_and");
}
template <typename T>
inline T aclshmemx_udma_atomic_fetch_or(T* dst, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_OR, dst, value, T(), pe,
                                  "aclshmemx_udma_atomic_fetch_or");
}
template <typename T>
inline T aclshmemx_udma_atomic_fetch_xor(T* dst, T value, int32_t pe) {
  return symm_dev::queue_fetch<T>(ACLSHMEM_TRANSPORT_UDMA, SYMM_DESC_XOR, dst, value, T(), pe,
                                  "aclshmemx_udma_atomic_fetch_xor");
}

#endif
