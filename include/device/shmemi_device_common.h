// Internal names that kernels of SHMEM programs use directly, and the choice of the instance a core
// works on.
#ifndef SHMEMI_DEVICE_COMMON_H
#define SHMEMI_DEVICE_COMMON_H

#include "device/impl/barrier_inl.h"
#include "device/impl/config_inl.h"
#include "device/impl/host_dual.h"
#include "device/shmem_def.h"

SYMM_HOST(aclshmem_instance_ctx*, aclshmemx_instance_ctx_get, (void));
SYMM_HOST(int, aclshmemx_instance_ctx_set, (uint64_t instance_id));

// Makes earlier stores visible, forgets cached values, and lets the other cores run: what a polling
// loop over plain memory needs. Memory of this device is coherent, so the range does not matter.
template <typename T>
inline void dcci_cacheline(T*) {
  symm_rt_yield();
}
template <typename T, typename Bytes>
inline void dcci_cachelines(T*, Bytes) {
  symm_rt_yield();
}

// Loads with acquire; lets other cores run now and then, since programs poll with it.
template <typename T>
inline T aclshmemi_load(T* address) {
  symm_dev::polled();
  T value;
  __atomic_load(address, &value, __ATOMIC_ACQUIRE);
  return value;
}

// Stores with release. Waiters that sleep find it within milliseconds.
template <typename T, typename V>
inline void aclshmemi_store(T* address, V value) {
  T converted = static_cast<T>(value);
  __atomic_store(address, &converted, __ATOMIC_RELEASE);
}

// Stores one value at a byte address or an address of its type. Further arguments (scratch, event)
// are what the hardware needs.
template <typename T, typename V, typename... Rest>
inline void aclshmemi_set_value(T* address, V value, Rest&&...) {
  if constexpr (sizeof(T) == 1 && sizeof(V) > 1) {
    symm_dev::copy(address, &value, sizeof value);
  } else {
    aclshmemi_store(address, value);
  }
  symm_dev::full_fence();
}

// Barrier of the vector cores of this launch only.
inline void aclshmemi_barrier_core_soft() {
  symm_dev::state("aclshmemi_barrier_core_soft");
  symm_rt_sync_all();
}

// Team barrier; the argument tells the hardware whether cube cores take part.
template <bool is_aiv_only = true>
inline void aclshmemi_barrier(aclshmem_team_t team) {
  symm_dev::team_barrier(team, true, "aclshmemi_barrier");
}

// What aclshmemx_instance_ctx_get returns: the number of the instance in a kernel, the host's
// record on a host thread.
class aclshmemi_instance_ref {
 public:
  explicit aclshmemi_instance_ref(uint64_t id) : id_(id) {}
  explicit aclshmemi_instance_ref(aclshmem_instance_ctx* record) : record_(record) {}
  operator uint64_t() const { return record_ != nullptr ? record_->id : id_; }
  operator aclshmem_instance_ctx*() const { return record_; }
  aclshmem_instance_ctx* operator->() const { return record_; }

 private:
  uint64_t id_ = 0;
  aclshmem_instance_ctx* record_ = nullptr;
};

// The instance that the calls of this core work on.
inline aclshmemi_instance_ref aclshmemx_instance_ctx_get() {
  if (!symm_dev::in_kernel()) return aclshmemi_instance_ref(symm_host_aclshmemx_instance_ctx_get());
  return aclshmemi_instance_ref(symm_dev::state("aclshmemx_instance_ctx_get")->instance_id);
}

// Selects the instance for the later calls of this core, until it ends or selects again. An unknown
// instance ends the kernel with a message. Returns 0. On a host thread: the host function.
inline int aclshmemx_instance_ctx_set(uint64_t instance_id) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmemx_instance_ctx_set(instance_id);
  symm_dev::select_instance(instance_id, "aclshmemx_instance_ctx_set");
  return 0;
}

#endif
