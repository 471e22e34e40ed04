// Two independent instances in one process, and a kernel that works on both: in one it sends to the
// next PE, in the other to the previous one. The address of the second instance travels through the
// symmetric memory of the first.
#include "../utils/demo.h"

namespace {

constexpr int32_t kElements = 1000;
constexpr uint32_t kBlocks = 3;
constexpr uint64_t kFirst = 0;
constexpr uint64_t kSecond = 1;

int32_t value_of(uint64_t instance, int pe, int32_t i) {
  return static_cast<int32_t>(instance + 1) * 1'000'000 + pe * 10'000 + i;
}

// Symmetric memory of one instance.
struct Buffers {
  int32_t* own;
  int32_t* inbox;
};

}  // namespace

// Puts this core's part of own into the inbox of the neighbour, in the instance that is selected.
__aicore__ inline void send(const Buffers& buffers, int distance) {
  const int n = aclshmem_n_pes();
  const int pe = (aclshmem_my_pe() + distance + n) % n;
  const int32_t share =
      (kElements + static_cast<int32_t>(AscendC::GetBlockNum()) - 1) / AscendC::GetBlockNum();
  const int32_t from = static_cast<int32_t>(AscendC::GetBlockIdx()) * share;
  const int32_t count = kElements - from < share ? kElements - from : share;
  aclshmem_int32_put_nbi(buffers.inbox + from, buffers.own + from, count, pe);
}

ACLSHMEM_GLOBAL_VECTOR void both_ways(Buffers first, Buffers second) {
  aclshmemx_instance_ctx_set(kFirst);
  send(first, 1);
  aclshmemx_instance_ctx_set(kSecond);
  send(second, -1);
  aclshmem_barrier_all();  // of the second
  aclshmemx_instance_ctx_set(kFirst);
  aclshmem_barrier_all();  // of the first
}

namespace {

// PE 0 makes the id of the second instance; all read it from the first.
bool share_id(const demo::Arguments& arguments, aclshmemx_uniqueid_t* id) {
  uint8_t* shared = demo::symmetric(sizeof *id);
  if (shared == nullptr) return false;
  if (arguments.pe_id == 0) {
    DEMO_CHECK(aclshmemx_get_uniqueid(id));
    for (int pe = 0; pe < arguments.n_pes; ++pe) {
      aclshmem_putmem(shared, id, static_cast<uint32_t>(sizeof *id), pe);
    }
  }
  aclshmem_barrier_all();
  std::memcpy(id, shared, sizeof *id);
  aclshmem_free(shared);
  return true;
}

bool start_second(const demo::Arguments& arguments) {
  aclshmemx_uniqueid_t id = ACLSHMEM_UNIQUEID_INITIALIZER;
  if (!share_id(arguments, &id)) return false;
  aclshmemx_init_attr_t attributes;
  attributes.instance_id = kSecond;
  DEMO_CHECK(aclshmemx_set_attr_uniqueid_args(arguments.pe_id, arguments.n_pes, 16L * 1024 * 1024,
                                              &id, &attributes));
  DEMO_CHECK(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attributes));
  return true;
}

bool allocate(const demo::Arguments& arguments, uint64_t instance, Buffers* buffers) {
  DEMO_CHECK(aclshmemx_instance_ctx_set(instance));
  buffers->own = demo::symmetric_of<int32_t>(kElements);
  buffers->inbox = demo::symmetric_of<int32_t>(kElements);
  if (buffers->own == nullptr || buffers->inbox == nullptr) return false;
  std::vector<int32_t> host(kElements);
  for (int32_t i = 0; i < kElements; ++i) {
    host[static_cast<size_t>(i)] = value_of(instance, arguments.pe_id, i);
  }
  constexpr size_t kBytes = kElements * sizeof(int32_t);
  DEMO_CHECK(aclrtMemcpy(buffers->own, kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return true;
}

bool check(uint64_t instance, const Buffers& buffers, int from_pe) {
  std::vector<int32_t> host(kElements);
  constexpr size_t kBytes = kElements * sizeof(int32_t);
  DEMO_CHECK(aclrtMemcpy(host.data(), kBytes, buffers.inbox, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int32_t i = 0; i < kElements; ++i) {
    const int32_t wanted = value_of(instance, from_pe, i);
    const int32_t got = host[static_cast<size_t>(i)];
    if (got == wanted) continue;
    std::fprintf(stderr, "instance %llu, element %d: got %d, wanted %d\n",
                 static_cast<unsigned long long>(instance), i, got, wanted);
    return false;
  }
  return true;
}

bool run(const demo::Arguments& arguments) {
  aclrtStream stream = nullptr;
  Buffers first{};
  Buffers second{};
  if (!demo::start(arguments, &stream) || !start_second(arguments) ||
      !allocate(arguments, kFirst, &first) || !allocate(arguments, kSecond, &second)) {
    return false;
  }
  DEMO_CHECK(aclshmemx_instance_ctx_set(kFirst));
  both_ways<<<kBlocks, nullptr, stream>>>(first, second);
  DEMO_CHECK(aclrtSynchronizeStream(stream));
  const int n = arguments.n_pes;
  bool good = check(kFirst, first, (arguments.pe_id + n - 1) % n);
  good = check(kSecond, second, (arguments.pe_id + 1) % n) && good;

  DEMO_CHECK(aclshmemx_instance_ctx_set(kSecond));
  aclshmem_free(second.inbox);
  aclshmem_free(second.own);
  DEMO_CHECK(aclshmemx_finalize(kSecond));
  DEMO_CHECK(aclshmemx_instance_ctx_set(kFirst));  // still alive
  aclshmem_free(first.inbox);
  aclshmem_free(first.own);
  return demo::finish(arguments, stream) && good;
}

}  // namespace

int main(int argc, char** argv) { return demo::main_of(argc, argv, run); }
