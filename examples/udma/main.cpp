// The UDMA engine: an allgather with signals instead of barriers, and a work list that all PEs
// share, handed out by atomics.
#include "../utils/demo.h"

namespace {

constexpr uint32_t kElements = 4096;  // int64 per PE
constexpr int32_t kTasks = 200;
constexpr uint64_t kSignal = 77;

int64_t value_of(int pe, uint32_t i) { return int64_t{pe} << 32 | i; }

}  // namespace

// Puts the own slice with a signal behind it to every PE, and waits for the signals of all.
ACLSHMEM_GLOBAL_VECTOR void gather_with_signals(__gm__ int64_t* gathered, __gm__ int64_t* own,
                                                __gm__ uint64_t* signals) {
  __ubuf__ uint8_t* scratch = reinterpret_cast<__ubuf__ uint8_t*>(uint64_t(0));
  const int me = aclshmem_my_pe();
  const int n = aclshmem_n_pes();
  for (int pe = 0; pe < n; ++pe) {
    aclshmemx_udma_put_signal_nbi<int64_t>(gathered + me * kElements, own, kElements, signals + me,
                                           kSignal, pe, scratch);
  }
  for (int pe = 0; pe < n; ++pe) {
    aclshmem_uint64_wait_until(signals + pe, ACLSHMEM_CMP_EQ, kSignal);
  }
  // The signals tell that the data of others is here; the quiet, that own may be used again.
  for (int pe = 0; pe < n; ++pe) aclshmemx_udma_quiet(pe);
}

// The counter of PE 0 hands out task numbers. done[t] counts who did task t, and best is the
// highest task, on PE 0.
ACLSHMEM_GLOBAL_VECTOR void share_tasks(__gm__ int32_t* counter, __gm__ int32_t* done,
                                        __gm__ int32_t* best, __gm__ int32_t* mine) {
  for (;;) {
    const int32_t task = aclshmemx_udma_atomic_fetch_add<int32_t>(counter, 1, 0);
    if (task >= kTasks) break;
    aclshmemx_udma_atomic_add<int32_t>(done + task, 1, 0);
    *mine += 1;
    int32_t seen = aclshmemx_udma_atomic_fetch<int32_t>(best, 0);
    while (task > seen) {
      const int32_t before = aclshmemx_udma_atomic_compare_swap<int32_t>(best, seen, task, 0);
      if (before == seen) break;
      seen = before;
    }
  }
  aclshmemx_udma_quiet(0);
  aclshmem_barrier_all();
}

namespace {

template <typename T>
bool read(std::vector<T>* host, const T* device) {
  const size_t bytes = host->size() * sizeof(T);
  DEMO_CHECK(aclrtMemcpy(host->data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  return true;
}

bool check_gathered(const demo::Arguments& arguments, const int64_t* gathered) {
  std::vector<int64_t> host(static_cast<size_t>(arguments.n_pes) * kElements);
  if (!read(&host, gathered)) return false;
  for (size_t i = 0; i < host.size(); ++i) {
    if (host[i] == value_of(static_cast<int>(i / kElements), i % kElements)) continue;
    std::fprintf(stderr, "element %zu of PE %zu is wrong\n", i % kElements, i / kElements);
    return false;
  }
  return true;
}

// Every task was done once, and the highest is known. PE 0 holds the counts.
bool check_tasks(const demo::Arguments& arguments, const int32_t* done, const int32_t* best) {
  if (arguments.pe_id != 0) return true;
  std::vector<int32_t> counts(kTasks);
  std::vector<int32_t> highest(1);
  if (!read(&counts, done) || !read(&highest, best)) return false;
  for (int32_t task = 0; task < kTasks; ++task) {
    if (counts[static_cast<size_t>(task)] == 1) continue;
    std::fprintf(stderr, "task %d was done %d times\n", task, counts[static_cast<size_t>(task)]);
    return false;
  }
  if (highest[0] != kTasks - 1) std::fprintf(stderr, "highest task: got %d\n", highest[0]);
  return highest[0] == kTasks - 1;
}

bool run(const demo::Arguments& arguments) {
  aclrtStream stream = nullptr;
  if (!demo::start(arguments, &stream, ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_UDMA)) return false;
  const auto n = static_cast<uint64_t>(arguments.n_pes);
  auto* own = demo::symmetric_of<int64_t>(kElements);
  auto* gathered = demo::symmetric_of<int64_t>(n * kElements);
  auto* signals = demo::symmetric_of<uint64_t>(n);
  auto* words = demo::symmetric_of<int32_t>(kTasks + 3);  // done, counter, best, mine
  if (own == nullptr || gathered == nullptr || signals == nullptr || words == nullptr) return false;
  std::vector<int64_t> values(kElements);
  for (uint32_t i = 0; i < kElements; ++i) values[i] = value_of(arguments.pe_id, i);
  constexpr size_t kBytes = kElements * sizeof(int64_t);
  DEMO_CHECK(aclrtMemcpy(own, kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  aclshmem_barrier_all();

  gather_with_signals<<<1, nullptr, stream>>>(gathered, own, signals);
  share_tasks<<<1, nullptr, stream>>>(words + kTasks, words, words + kTasks + 1,
                                      words + kTasks + 2);
  DEMO_CHECK(aclrtSynchronizeStream(stream));
  std::vector<int32_t> mine(1);
  bool good = read(&mine, words + kTasks + 2);
  std::printf("relative pe %d: did %d of %d tasks\n", arguments.relative_pe(), mine[0], kTasks);
  good = check_gathered(arguments, gathered) && check_tasks(arguments, words, words + kTasks + 1) &&
         good;
  for (void* memory : {static_cast<void*>(words), static_cast<void*>(signals),
                       static_cast<void*>(gathered), static_cast<void*>(own)}) {
    aclshmem_free(memory);
  }
  return demo::finish(arguments, stream) && good;
}

}  // namespace

int main(int argc, char** argv) { return demo::main_of(argc, argv, run); }
