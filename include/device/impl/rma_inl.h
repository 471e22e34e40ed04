// Internal to the kernel side: transfers that choose their engine by the reachability byte of the
// PE, in the order SDMA, UDMA, MTE, RDMA.
#ifndef SYMM_DEVICE_RMA_INL_H
#define SYMM_DEVICE_RMA_INL_H

#include "device/impl/engine_inl.h"
#include "device/shmem_def.h"

namespace symm_dev {

// The engine bit for a transfer with pe. Traps when there is none.
inline uint32_t engine_for(const symm_device_state* s, int pe, const char* call) {
  if (__builtin_expect(static_cast<uint32_t>(pe) >= static_cast<uint32_t>(s->base.npes), 0))
    bad_pe(s, pe, call);
  const uint8_t bits = s->base.topo_list[pe];
  for (uint32_t kind : {ACLSHMEM_TRANSPORT_SDMA, ACLSHMEM_TRANSPORT_UDMA, ACLSHMEM_TRANSPORT_MTE,
                        ACLSHMEM_TRANSPORT_ROCE}) {
    if ((bits & kind) != 0) return kind;
  }
  trap("%s on PE %d: no engine reaches PE %d; ask for one in option_attr.data_op_engine_type", call,
       s->base.mype, pe);
}

template <typename T>
inline void put_nbi(T* target, const T* source, uint64_t count, int pe, const char* call) {
  const uint32_t kind = engine_for(state(call), pe, call);
  if (kind == ACLSHMEM_TRANSPORT_MTE) {
    mte_put(target, source, count, pe, call);
  } else {
    engine_put(kind, target, source, count, pe, call);
  }
}

template <typename T>
inline void get_nbi(T* target, const T* source, uint64_t count, int pe, const char* call) {
  const uint32_t kind = engine_for(state(call), pe, call);
  if (kind == ACLSHMEM_TRANSPORT_MTE) {
    mte_get(target, source, count, pe, call);
  } else {
    engine_get(kind, target, source, count, pe, call);
  }
}

// Completes what put_nbi or get_nbi with pe started.
inline void quiet_pe(int pe, const char* call) {
  const symm_device_state* s = state(call);
  const uint32_t kind = engine_for(s, pe, call);
  if (kind == ACLSHMEM_TRANSPORT_MTE) {
    mte_quiet();
  } else {
    quiet_engine(s, kind, pe, call);
  }
}

template <typename T>
inline void put(T* target, const T* source, uint64_t count, int pe, const char* call) {
  put_nbi(target, source, count, pe, call);
  quiet_pe(pe, call);
}

template <typename T>
inline void get(T* target, const T* source, uint64_t count, int pe, const char* call) {
  polled();
  get_nbi(target, source, count, pe, call);
  quiet_pe(pe, call);
}

// One element, stored in one piece; wakes the target, which may wait for the value.
template <typename T>
inline void put_element(T* target, T value, int pe, const char* call) {
  const symm_device_state* s = state(call);
  store_element(remote_as(s, target, 1, pe, call), value);
  notify_pe(s, pe);
}

template <typename T>
inline T get_element(const T* source, int pe, const char* call) {
  polled();
  return load_element(static_cast<const T*>(remote_as(state(call), source, 1, pe, call)));
}

template <typename T>
inline T* host_pointer(const AscendC::GlobalTensor<T>& tensor) {
  return tensor.GetPhyAddr();
}
template <typename T>
inline T* host_pointer(const AscendC::LocalTensor<T>& tensor) {
  return reinterpret_cast<T*>(symm::kernel::ub_pointer(tensor.GetPhyAddr()));
}

}  // namespace symm_dev
#endif
