// An allgather that chooses its way by the size of a slice. Small: every PE puts its slice and a
// signal into every PE, and who needs it copies it out; one trip. Large: all cores of a PE pull
// parts of the slices of the others.
#include "../utils/demo.h"

namespace {

constexpr uint64_t kSmall = 2048;  // elements of a slice up to which the small way is taken
constexpr uint64_t kSizes[] = {1, 16, 100, 2048, 2049, 100'000, 300'000};
constexpr uint32_t kCores = 4;
constexpr int kRounds = 20;

// All but out are symmetric.
struct Gather {
  int32_t* own;
  int32_t* out;      // n_pes slices
  int32_t* mailbox;  // two times n_pes slices of kSmall elements, used in turn
  int32_t* signals;  // two times n_pes
};

}  // namespace

// A mailbox is written again two rounds later. By then its owner has read it: a PE that sends in
// round r + 2 has received our slice of round r + 1, which we sent after we had emptied round r.
ACLSHMEM_GLOBAL_VECTOR void allgather_small(Gather job, uint64_t count, int32_t round) {
  const int me = aclshmem_my_pe();
  const int n = aclshmem_n_pes();
  const int64_t core = AscendC::GetBlockIdx();
  const int64_t cores = AscendC::GetBlockNum();
  const uint64_t turn = static_cast<uint64_t>(round % 2) * static_cast<uint64_t>(n);
  for (int pe = static_cast<int>(core); pe < n; pe += static_cast<int>(cores)) {
    aclshmem_int32_put_nbi(job.mailbox + (turn + static_cast<uint64_t>(me)) * kSmall, job.own,
                           count, pe);
    aclshmem_quiet();
    aclshmemx_signal_op(job.signals + turn + me, round, ACLSHMEM_SIGNAL_SET, pe);
  }
  for (int pe = static_cast<int>(core); pe < n; pe += static_cast<int>(cores)) {
    const uint64_t from = turn + static_cast<uint64_t>(pe);
    aclshmem_signal_wait_until(job.signals + from, ACLSHMEM_CMP_EQ, round);
    const int32_t* slice = job.mailbox + from * kSmall;
    for (uint64_t i = 0; i < count; ++i) job.out[static_cast<uint64_t>(pe) * count + i] = slice[i];
  }
}

ACLSHMEM_GLOBAL_VECTOR void allgather_large(Gather job, uint64_t count) {
  const int me = aclshmem_my_pe();
  const int n = aclshmem_n_pes();
  const auto cores = static_cast<uint64_t>(AscendC::GetBlockNum());
  const uint64_t share = (count + cores - 1) / cores;
  const uint64_t start = static_cast<uint64_t>(AscendC::GetBlockIdx()) * share;
  const uint64_t from = start < count ? start : count;
  const uint64_t part = count - from < share ? count - from : share;
  aclshmem_barrier_all();  // the slices are filled
  for (int step = 0; step < n; ++step) {
    const int pe = (me + step) % n;  // not everybody reads the same PE at once
    aclshmem_int32_get_nbi(job.out + static_cast<uint64_t>(pe) * count + from, job.own + from, part,
                           pe);
  }
  aclshmem_barrier_all();  // completes the gets, and the slices may change
}

namespace {

int32_t value_of(int pe, int round, uint64_t i) {
  return pe * 1000003 + round * 10007 + static_cast<int32_t>(i);
}

bool check(const demo::Arguments& arguments, const int32_t* out, uint64_t count, int round) {
  std::vector<int32_t> host(static_cast<size_t>(arguments.n_pes) * count);
  const size_t bytes = host.size() * sizeof(int32_t);
  DEMO_CHECK(aclrtMemcpy(host.data(), bytes, out, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (size_t i = 0; i < host.size(); ++i) {
    const int32_t wanted = value_of(static_cast<int>(i / count), round, i % count);
    if (host[i] == wanted) continue;
    std::fprintf(stderr, "%zu elements, round %d: element %zu of PE %zu: got %d, wanted %d\n",
                 static_cast<size_t>(count), round, i % count, i / count, host[i], wanted);
    return false;
  }
  return true;
}

// All rounds of one size; `number` counts the rounds of all sizes. A wrong result does not leave
// the loop: the others wait for this PE.
bool gather_rounds(const demo::Arguments& arguments, const Gather& job, uint64_t count, int* number,
                   aclrtStream stream, bool* correct) {
  std::vector<double> times;
  std::vector<int32_t> own(count);
  for (int round = 0; round < kRounds; ++round) {
    ++*number;
    for (uint64_t i = 0; i < count; ++i) own[i] = value_of(arguments.pe_id, *number, i);
    const size_t bytes = count * sizeof(int32_t);
    DEMO_CHECK(aclrtMemcpy(job.own, bytes, own.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    const double start = demo::now_us();
    if (count <= kSmall) {
      allgather_small<<<kCores, nullptr, stream>>>(job, count, *number);
    } else {
      allgather_large<<<kCores, nullptr, stream>>>(job, count);
    }
    DEMO_CHECK(aclrtSynchronizeStream(stream));
    times.push_back(demo::now_us() - start);
    *correct = *correct && check(arguments, job.out, count, *number);
  }
  std::printf("relative pe %d: %8zu elements, %s: median %.1f us\n", arguments.relative_pe(),
              static_cast<size_t>(count), count <= kSmall ? "small" : "large", demo::median(times));
  return true;
}

bool run(const demo::Arguments& arguments) {
  aclrtStream stream = nullptr;
  if (!demo::start(arguments, &stream)) return false;
  const auto n = static_cast<uint64_t>(arguments.n_pes);
  const uint64_t largest = *std::max_element(std::begin(kSizes), std::end(kSizes));
  Gather job{};
  job.own = demo::symmetric_of<int32_t>(largest);
  job.mailbox = demo::symmetric_of<int32_t>(2 * n * kSmall);
  job.signals = demo::symmetric_of<int32_t>(2 * n);
  if (job.own == nullptr || job.mailbox == nullptr || job.signals == nullptr) return false;
  DEMO_CHECK(aclrtMalloc(reinterpret_cast<void**>(&job.out), n * largest * sizeof(int32_t),
                         ACL_MEM_MALLOC_HUGE_FIRST));
  int number = 0;
  bool correct = true;
  for (uint64_t count : kSizes) {
    if (!gather_rounds(arguments, job, count, &number, stream, &correct)) return false;
  }
  DEMO_CHECK(aclrtFree(job.out));
  for (int32_t* memory : {job.signals, job.mailbox, job.own}) aclshmem_free(memory);
  return demo::finish(arguments, stream) && correct;
}

}  // namespace

int main(int argc, char** argv) { return demo::main_of(argc, argv, run); }
