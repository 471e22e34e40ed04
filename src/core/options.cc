#include "core/options.h"

#include <cstring>

namespace symm {
namespace {

constexpr int kEngineMask = 0x0f;
constexpr uint64_t kHeapGrain = ACLSHMEM_PAGE_SIZE;

Status check_numbers(const aclshmemx_init_attr_t& a) {
  if (a.my_pe < 0) return SYMM_ERROR(kInvalidValue, "my_pe {} is negative", a.my_pe);
  if (a.n_pes <= 0) return SYMM_ERROR(kInvalidValue, "n_pes {} is not positive", a.n_pes);
  if (a.n_pes > ACLSHMEM_MAX_PES) {
    return SYMM_ERROR(kInvalidValue, "n_pes {} exceeds {}", a.n_pes, ACLSHMEM_MAX_PES);
  }
  if (a.my_pe >= a.n_pes) {
    return SYMM_ERROR(kInvalidParam, "my_pe {} is not below n_pes {}", a.my_pe, a.n_pes);
  }
  return {};
}

Status check(const aclshmemx_init_attr_t& a) {
  const aclshmem_init_optional_attr_t& option = a.option_attr;
  if (a.local_mem_size == 0) return SYMM_ERROR(kInvalidValue, "local_mem_size is 0");
  if (a.local_mem_size > ACLSHMEM_MAX_LOCAL_SIZE) {
    return SYMM_ERROR(kInvalidValue, "local_mem_size {} exceeds {} bytes", a.local_mem_size,
                      ACLSHMEM_MAX_LOCAL_SIZE);
  }
  if (option.shm_init_timeout == 0) return SYMM_ERROR(kInvalidValue, "shm_init_timeout is 0");
  if (option.control_operation_timeout == 0) {
    return SYMM_ERROR(kInvalidValue, "control_operation_timeout is 0");
  }
  // Copied as bytes: a caller's number need not be a value of the enumeration.
  int engines = 0;
  static_assert(sizeof(engines) == sizeof(option.data_op_engine_type));
  std::memcpy(&engines, &option.data_op_engine_type, sizeof(engines));
  if (engines <= 0 || (engines & ~kEngineMask) != 0) {
    return SYMM_ERROR(kInvalidValue, "data_op_engine_type {:#x} has bits outside {:#x}", engines,
                      kEngineMask);
  }
  if (a.local_mem_size % kHeapGrain != 0) {
    return SYMM_ERROR(kInvalidParam, "local_mem_size {} is not a multiple of {} bytes (2 MiB)",
                      a.local_mem_size, kHeapGrain);
  }
  return {};
}

}  // namespace

Result<InstanceOptions> options_from(const aclshmemx_init_attr_t& attributes, Numbers numbers) {
  if (numbers == Numbers::kFromAttributes) SYMM_TRY(check_numbers(attributes));
  SYMM_TRY(check(attributes));
  InstanceOptions options;
  options.pe = attributes.my_pe;
  options.n_pes = attributes.n_pes;
  options.comm_args = attributes.comm_args;
  options.heap_bytes = attributes.local_mem_size;
  options.engines = static_cast<uint32_t>(attributes.option_attr.data_op_engine_type);
  options.connect_timeout_s = attributes.option_attr.shm_init_timeout;
  options.operation_timeout_s = attributes.option_attr.control_operation_timeout;
  if (attributes.option_attr.sockFd > 0) options.listen_fd = attributes.option_attr.sockFd;
  options.id = attributes.instance_id;
  return options;
}

}  // namespace symm
