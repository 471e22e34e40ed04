// The path under which programs include the RDMA engine by its internal name.
#ifndef SHMEMI_DEVICE_RDMA_H
#define SHMEMI_DEVICE_RDMA_H

#include "device/gm2gm/engine/shmem_device_rdma.h"
#include "device/shmemi_device_common.h"

// Queues the write of message_bytes from source to target of pe, where target is what
// aclshmem_roce_ptr returned (or a symmetric address). Queue number, scratch and event are what the
// hardware needs. Complete after aclshmemx_roce_quiet.
template <typename T, typename S, typename... Rest>
inline void aclshmemi_roce_write(T* target, S* source, uint32_t pe, uint32_t,
                                 uint64_t message_bytes, Rest&&...) {
  const char* call = "aclshmemi_roce_write";
  const symm_device_state* s = symm_dev::state(call);
  symm_descriptor d{};
  d.kind = SYMM_DESC_COPY;
  d.target = symm_dev::remote_or_mapped(s, target, message_bytes, static_cast<int>(pe), call);
  d.source = source;
  d.bytes = message_bytes;
  symm_dev::push(s, ACLSHMEM_TRANSPORT_ROCE, static_cast<int>(pe), d, call);
}

#endif
