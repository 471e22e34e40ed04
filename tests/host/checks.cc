#include "tests/host/checks.h"

namespace conformance {
namespace {

int32_t* words() {
  static int32_t* memory = static_cast<int32_t*>(aclshmem_calloc(16, sizeof(int32_t)));
  return memory;
}

}  // namespace

bool starts_initialized() { return true; }

int32_t* word() { return words(); }
int32_t* signal_word() { return words() + 8; }

int32_t* number(int32_t value) {
  static int32_t kept;
  kept = value;
  return &kept;
}

void store(int value) {
  word();  // its first use allocates
  aclshmem_barrier_all();
  aclshmem_putmem(word(), number(value), sizeof(int32_t), right());
}

bool seen(int value) { return *word() == value; }

bool block(void* memory, size_t alignment) {
  if (memory == nullptr || reinterpret_cast<uintptr_t>(memory) % alignment != 0) return false;
  auto* last = static_cast<unsigned char*>(memory) + 4095;
  const unsigned char mine = pattern(me(), 1);
  aclshmem_putmem(last, const_cast<unsigned char*>(&mine), 1, right());
  drain();
  const bool came = *last == pattern(left(), 1);
  aclshmem_free(memory);
  return came;
}

bool host_block(void* memory) {
  if (memory == nullptr) return false;
  auto* last = static_cast<unsigned char*>(memory) + 4095;
  const unsigned char mine = pattern(me(), 2);
  aclshmem_putmem(last, const_cast<unsigned char*>(&mine), 1, right());
  drain();
  const bool came = *last == pattern(left(), 2);
  aclshmemx_free(memory, HOST_SIDE);
  return came;
}

bool frees(void (*call)()) {
  aclshmemx_heap_info_t before{}, after{};
  word();
  aclshmemx_heap_info(&before);
  call();
  aclshmemx_heap_info(&after);
  return before.in_use == after.in_use && before.blocks == after.blocks;
}

}  // namespace conformance
