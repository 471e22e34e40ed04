// Kernel side: the SDMA engine, an asynchronous copy engine with one channel per vector core (48).
// Requests of one core are executed in order; those of different cores overlap. Nothing is complete
// before the issuing core calls aclshmemx_sdma_quiet (or aclshmem_quiet, or a kernel barrier);
// other cores' requests are not covered. Counts are elements. Scratch (buf, ub_size) and sync_id
// are what the hardware needs and are not touched here. Original calls; kernels only.
#ifndef SHMEM_DEVICE_SDMA_H
#define SHMEM_DEVICE_SDMA_H

#include "device/impl/config_inl.h"
#include "device/impl/engine_inl.h"
#include "device/shmem_def.h"

enum class ACLSHMEMCMOTYPE : uint32_t {
  CMO_TYPE_PREFETCH = 6,
  CMO_TYPE_WRITEBACK = 7,
  CMO_TYPE_INVALID = 8,
  CMO_TYPE_FLUSH = 9,
  CMO_TYPE_MAX = 10,
};

namespace symm_dev {

// Requests are at most this long, so that a long transfer does not hold its channel in one piece.
constexpr uint64_t kSdmaRequestBytes = 1024 * 1024;

template <typename T>
inline void sdma_put(T* dst, const T* src, uint64_t count, int pe, const char* call) {
  remote(state(call), dst, count * sizeof(T), pe,
         call);  // all or nothing: check the whole range first
  char* to = reinterpret_cast<char*>(dst);
  const char* from = reinterpret_cast<const char*>(src);
  for (uint64_t left = count * sizeof(T); left != 0;) {
    const uint64_t bytes = left < kSdmaRequestBytes ? left : kSdmaRequestBytes;
    engine_put(ACLSHMEM_TRANSPORT_SDMA, to, from, bytes, pe, call);
    to += bytes;
    from += bytes;
    left -= bytes;
  }
}

template <typename T>
inline void sdma_get(T* dst, const T* src, uint64_t count, int pe, const char* call) {
  remote(state(call), src, count * sizeof(T), pe, call);
  char* to = reinterpret_cast<char*>(dst);
  const char* from = reinterpret_cast<const char*>(src);
  for (uint64_t left = count * sizeof(T); left != 0;) {
    const uint64_t bytes = left < kSdmaRequestBytes ? left : kSdmaRequestBytes;
    engine_get(ACLSHMEM_TRANSPORT_SDMA, to, from, bytes, pe, call);
    to += bytes;
    from += bytes;
    left -= bytes;
  }
}

inline void cache_operation(const void* source, uint64_t bytes, ACLSHMEMCMOTYPE type) {
  const symm_device_state* s = state("aclshmemx_cmo_nbi");
  if (type != ACLSHMEMCMOTYPE::CMO_TYPE_PREFETCH || bytes == 0) return;
  symm_descriptor d{};
  d.kind = SYMM_DESC_PREFETCH;
  d.source = source;
  d.bytes = bytes;
  push(s, ACLSHMEM_TRANSPORT_SDMA, s->base.mype, d, "aclshmemx_cmo_nbi");
}

inline void record_notify() {
  const char* call = "aclshmemx_sdma_notify_record";
  const symm_device_state* s = state(call);
  const int64_t core = core_index(symm_rt_core());
  if (s->notifies == nullptr || core >= SYMM_SDMA_CHANNELS) {
    trap("%s on PE %d: vector core %lld has no notify; there are %d", call, s->base.mype,
         static_cast<long long>(core),
         s->notifies == nullptr ? 0 : static_cast<int>(SYMM_SDMA_CHANNELS));
  }
  symm_descriptor d{};
  d.kind = SYMM_DESC_NOTIFY;
  d.target = s->notifies[core];
  push(s, ACLSHMEM_TRANSPORT_SDMA, s->base.mype, d, call);
}

inline void sdma_quiet(const char* call) {
  quiet_engine(state(call), ACLSHMEM_TRANSPORT_SDMA, 0, call);
}

}  // namespace symm_dev

// Queues the copy of elem_size elements from symmetric src of pe (device or HOST_SIDE heap) to
// local dst.
template <typename T>
inline void aclshmemx_sdma_get_nbi(T* dst, T* src, SYMM_UB T*, uint32_t, size_t elem_size, int pe,
                                   uint32_t) {
  symm_dev::sdma_get(dst, src, elem_size, pe, "aclshmemx_sdma_get_nbi");
}
template <typename T>
inline void aclshmemx_sdma_get_nbi(const AscendC::GlobalTensor<T>& dst,
                                   const AscendC::GlobalTensor<T>& src,
                                   const AscendC::LocalTensor<T>&, size_t elem_size, int pe,
                                   uint32_t) {
  symm_dev::sdma_get(dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, pe, "aclshmemx_sdma_get_nbi");
}

// Queues the copy of elem_size elements from local src to symmetric dst of pe (device or HOST_SIDE
// heap). src is busy until the quiet.
template <typename T>
inline void aclshmemx_sdma_put_nbi(T* dst, T* src, SYMM_UB T*, uint32_t, size_t elem_size, int pe,
                                   uint32_t) {
  symm_dev::sdma_put(dst, src, elem_size, pe, "aclshmemx_sdma_put_nbi");
}
template <typename T>
inline void aclshmemx_sdma_put_nbi(const AscendC::GlobalTensor<T>& dst,
                                   const AscendC::GlobalTensor<T>& src,
                                   const AscendC::LocalTensor<T>&, size_t elem_size, int pe,
                                   uint32_t) {
  symm_dev::sdma_put(dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, pe, "aclshmemx_sdma_put_nbi");
}

// Cache hint for elem_size elements of device memory. Only CMO_TYPE_PREFETCH does anything;
// aclshmemx_sdma_quiet completes it.
template <typename T>
inline void aclshmemx_cmo_nbi(T* src, size_t elem_size, ACLSHMEMCMOTYPE cmo_type, SYMM_UB T*,
                              uint32_t, uint32_t) {
  symm_dev::cache_operation(src, elem_size * sizeof(T), cmo_type);
}
template <typename T>
inline void aclshmemx_cmo_nbi(const AscendC::GlobalTensor<T>& src, size_t elem_size,
                              ACLSHMEMCMOTYPE cmo_type, const AscendC::LocalTensor<T>&, uint32_t) {
  symm_dev::cache_operation(src.GetPhyAddr(), elem_size * sizeof(T), cmo_type);
}

// Blocks until the calling core's earlier SDMA requests and cache operations are complete, helping
// the engine.
template <typename T>
inline void aclshmemx_sdma_quiet(const AscendC::LocalTensor<T>&, uint32_t) {
  symm_dev::sdma_quiet("aclshmemx_sdma_quiet");
}
template <typename T>
inline void aclshmemx_sdma_quiet(SYMM_UB T*, uint32_t, uint32_t) {
  symm_dev::sdma_quiet("aclshmemx_sdma_quiet");
}

// Queues, behind this core's SDMA requests, the recording of the runtime notify of this vector
// core; the host waits for it with aclrtWaitAndResetNotify(g_state_host.notify_arr[core], ...).
template <typename T>
inline void aclshmemx_sdma_notify_record(const AscendC::LocalTensor<T>&, uint32_t) {
  symm_dev::record_notify();
}
template <typename T>
inline void aclshmemx_sdma_notify_record(SYMM_UB T*, uint32_t, uint32_t) {
  symm_dev::record_notify();
}

#endif
