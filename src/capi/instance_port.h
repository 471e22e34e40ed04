// The port of a further instance: SHMEM_INSTANCE_PORT_RANGE and the template address.
#pragma once

#include "base/status.h"
#include "host/shmem_host_def.h"

namespace symm::capi {

// For an instance with an id other than 0 in default mode: an ip_port whose port is 0 gets the port
// start + id of SHMEM_INSTANCE_PORT_RANGE=start:end, written back. Any other address is taken as it
// is; it may be that of another instance. kInvalidValue when there is no address, or no port for
// this id.
Status place_instance(uint32_t flags, aclshmemx_init_attr_t& attributes);

}  // namespace symm::capi
