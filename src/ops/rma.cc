#include "ops/rma.h"

namespace symm::ops {
namespace {

// Which PE's heap contains the address as it is mapped here, or -1.
int owner_of(const Instance& instance, const void* address) {
  for (int pe = 0; pe < instance.n_pes(); ++pe) {
    const Route& route = instance.route(pe);
    const uint64_t offset =
        reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(route.heap);
    if (route.heap != nullptr && offset < instance.heap_limit()) return pe;
  }
  return -1;
}

// Bytes that a strided operation spans, or nothing when that number overflows.
bool span_of(size_t count, ptrdiff_t stride, size_t size, size_t& bytes) {
  size_t reach = 0;
  if (__builtin_mul_overflow(count - 1, static_cast<size_t>(stride), &reach)) return false;
  if (__builtin_add_overflow(reach, size_t{1}, &reach)) return false;
  return !__builtin_mul_overflow(reach, size, &bytes);
}

Status check_strides(const Instance& instance, ptrdiff_t to_stride, ptrdiff_t from_stride,
                     const char* call) {
  if (to_stride >= 1 && from_stride >= 1) return {};
  return SYMM_ERROR(kInvalidParam, "{} on PE {}: strides {} and {} must be at least 1", call,
                    instance.pe(), to_stride, from_stride);
}

}  // namespace

Status bad_target(const Instance& instance, const void* address, size_t bytes, int pe,
                  const char* call, std::byte** own) {
  if (pe < 0 || pe >= instance.n_pes()) {
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: PE {} is not one of 0..{}", call, instance.pe(),
                      pe, instance.n_pes() - 1);
  }
  const std::byte* base = instance.heap_base();
  const uint64_t limit = instance.heap_limit();
  const uint64_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base);
  if (offset < limit) {
    return SYMM_ERROR(kInvalidParam,
                      "{} on PE {}: {} bytes at {} for PE {} run {} bytes over the end of the "
                      "symmetric heap [{}, {})",
                      call, instance.pe(), bytes, address, pe, bytes - (limit - offset),
                      static_cast<const void*>(base), static_cast<const void*>(base + limit));
  }
  if (pe == instance.pe()) {
    *own = static_cast<std::byte*>(const_cast<void*>(address));
    return {};
  }
  const int owner = owner_of(instance, address);
  const std::string hint =
      owner >= 0 ? fmt::format(
                       "; it is PE {}'s memory as aclshmem_ptr shows it, pass the address "
                       "of this PE's own object",
                       owner)
                 : std::string("; pass memory from aclshmem_malloc");
  return SYMM_ERROR(kInvalidParam,
                    "{} on PE {}: {} bytes at {} for PE {} are outside the symmetric heap [{}, "
                    "{}){}",
                    call, instance.pe(), bytes, address, pe, static_cast<const void*>(base),
                    static_cast<const void*>(base + limit), hint);
}

void wake_watchers(const Route& route, const std::byte* target, size_t bytes) {
  const auto offset = static_cast<uint64_t>(target - route.heap);
  bool watched = __atomic_load_n(&route.control->watchers_elsewhere, __ATOMIC_RELAXED) != 0;
  for (const symm_control_page::symm_watch& watch : route.control->watch) {
    const uint64_t begin = __atomic_load_n(&watch.begin, __ATOMIC_RELAXED);
    const uint64_t end = __atomic_load_n(&watch.end, __ATOMIC_RELAXED);
    watched = watched || (offset < end && offset + bytes > begin);
  }
  if (watched) os::notify(route.control->events);
}

Status put_slow(Instance& instance, void* to, const void* from, size_t bytes, int pe,
                const char* call) {
  std::byte* own = nullptr;
  SYMM_TRY(bad_target(instance, to, bytes, pe, call, &own));
  copy_out(own, from, bytes, instance.route(instance.pe()));
  return {};
}

Status get_slow(Instance& instance, void* to, const void* from, size_t bytes, int pe,
                const char* call) {
  std::byte* own = nullptr;
  SYMM_TRY(bad_target(instance, from, bytes, pe, call, &own));
  copy_in(to, own, bytes);
  return {};
}

Status iput(Instance& instance, void* to, const void* from, ptrdiff_t to_stride,
            ptrdiff_t from_stride, size_t count, size_t size, int pe, const char* call) {
  SYMM_TRY(check_strides(instance, to_stride, from_stride, call));
  if (count == 0) return {};
  size_t bytes = 0;
  if (!span_of(count, to_stride, size, bytes)) bytes = SIZE_MAX;
  std::byte* target = translate(instance, to, bytes, pe);
  if (target == nullptr) SYMM_TRY(bad_target(instance, to, bytes, pe, call, &target));
  const auto* source = static_cast<const std::byte*>(from);
  const auto to_step = static_cast<size_t>(to_stride) * size;
  const auto from_step = static_cast<size_t>(from_stride) * size;
  for (size_t i = 0; i < count; ++i) {
    copy_out(target + i * to_step, source + i * from_step, size, instance.route(pe));
  }
  return {};
}

Status iget(Instance& instance, void* to, const void* from, ptrdiff_t to_stride,
            ptrdiff_t from_stride, size_t count, size_t size, int pe, const char* call) {
  SYMM_TRY(check_strides(instance, to_stride, from_stride, call));
  if (count == 0) return {};
  size_t bytes = 0;
  if (!span_of(count, from_stride, size, bytes)) bytes = SIZE_MAX;
  std::byte* source = translate(instance, from, bytes, pe);
  if (source == nullptr) SYMM_TRY(bad_target(instance, from, bytes, pe, call, &source));
  auto* target = static_cast<std::byte*>(to);
  const auto to_step = static_cast<size_t>(to_stride) * size;
  const auto from_step = static_cast<size_t>(from_stride) * size;
  for (size_t i = 0; i < count; ++i) {
    copy_in(target + i * to_step, source + i * from_step, size);
  }
  return {};
}

void* peer_pointer(const Instance& instance, void* address, int pe) {
  return translate(instance, address, 1, pe);
}

}  // namespace symm::ops
