// The simplified device interface over a real instance, one process per PE: team handles as kernel
// parameters, put, get, and collectives on private memory. usage: kernel_collectives n_pes pe
// ip_port
#include <acl/acl.h>
#include <shmem.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "device/gm2gm.h"
#include "device/team.h"

#include "program.h"

namespace {

constexpr int32_t kBlocks = 3;
constexpr size_t kCount = 300'001;  // more than one chunk of the scratch, no round number

float in_of(int pe, size_t i) { return static_cast<float>(pe + 1) + static_cast<float>(i % 100); }

}  // namespace

__global__ void reduce_all(aclshmemx_team_t team, const float* in, float* out, size_t count) {
  aclshmemx_allreduce(team, in, out, count, ACLSHMEMX_SUM, ACLSHMEMX_FLOAT32);
  aclshmemx_team_sync(team);
}

__global__ void gather_all(aclshmemx_team_t team, const float* in, float* out, size_t count) {
  aclshmemx_allgather(team, in, out, count, ACLSHMEMX_FLOAT32);
}

// One step of a captured graph: the input changes with the replay.
__global__ void gather_next(aclshmemx_team_t team, int32_t* step, int32_t* mine, int32_t* all,
                            int32_t* sums, size_t count) {
  const int32_t pe = aclshmemx_team_global_rank(team);
  if (AscendC::GetBlockIdx() == 0) {
    ++*step;
    for (size_t i = 0; i < count; ++i) mine[i] = (10 + pe) * (3 + *step) + static_cast<int32_t>(i);
  }
  AscendC::SyncAll();
  aclshmemx_allgather(team, mine, all, count, ACLSHMEMX_INT32);
  aclshmemx_allreduce(team, mine, sums, count, ACLSHMEMX_SUM, ACLSHMEMX_INT32);
}

// Adds up what the replays gathered, so that every one of them counts.
__global__ void check_next(const int32_t* step, const int32_t* all, const int32_t* sums,
                           int32_t n_pes, size_t count, int32_t* wrong) {
  if (AscendC::GetBlockIdx() != 0) return;
  for (size_t i = 0; i < count; ++i) {
    int32_t sum = 0;
    for (int32_t pe = 0; pe < n_pes; ++pe) {
      const int32_t wanted = (10 + pe) * (3 + *step) + static_cast<int32_t>(i);
      *wrong += all[static_cast<size_t>(pe) * count + i] != wanted;
      sum += wanted;
    }
    *wrong += sums[i] != sum;
  }
}

__global__ void exchange(aclshmemx_team_t team, void* local_buffer, void* remote_buffer,
                         void* fetched, size_t data_size) {
  const int32_t rank = aclshmemx_team_global_rank(team);
  const int32_t size = aclshmemx_team_size(team);
  const int32_t peer = (rank + 1) % size;
  // One core moves the data; the others would write the same bytes at the same time.
  if (AscendC::GetBlockIdx() == 0) {
    aclshmemx_gm2gm_put(team, remote_buffer, local_buffer, data_size, peer);
    aclshmemx_gm2gm_get(fetched, local_buffer, data_size, peer);
  }
  aclshmemx_team_sync(team);
}

namespace {

void check_collectives(const aclshmemx_team_t& team, int n_pes, int pe, aclrtStream stream) {
  const auto n = static_cast<size_t>(n_pes);
  std::vector<float> in(kCount);
  std::vector<float> sum(kCount);
  std::vector<float> all(n * kCount);
  for (size_t i = 0; i < kCount; ++i) in[i] = in_of(pe, i);
  reduce_all<<<kBlocks, nullptr, stream>>>(team, in.data(), sum.data(), kCount);
  gather_all<<<kBlocks, nullptr, stream>>>(team, in.data(), all.data(), kCount);
  CHECK(aclrtSynchronizeStream(stream) == 0);
  size_t wrong = 0;
  for (size_t i = 0; i < kCount; ++i) {
    float wanted = 0;
    for (int p = 0; p < n_pes; ++p) wanted += in_of(p, i);
    wrong += sum[i] != wanted;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    wrong += all[i] != in_of(static_cast<int>(i / kCount), i % kCount);
  }
  CHECK(wrong == 0);
}

void check_exchange(const aclshmemx_team_t& team, int n_pes, int pe, aclrtStream stream) {
  constexpr size_t kWords = 1000;
  auto* words = static_cast<int32_t*>(aclshmem_calloc(3 * kWords, sizeof(int32_t)));
  CHECK(words != nullptr);
  if (words == nullptr) return;
  for (size_t i = 0; i < kWords; ++i) words[i] = pe * 10'000 + static_cast<int32_t>(i);
  aclshmem_barrier_all();
  exchange<<<1, nullptr, stream>>>(team, words, words + kWords, words + 2 * kWords,
                                   kWords * sizeof(int32_t));
  CHECK(aclrtSynchronizeStream(stream) == 0);
  const int left = (pe + n_pes - 1) % n_pes;
  const int right = (pe + 1) % n_pes;
  size_t wrong = 0;
  for (size_t i = 0; i < kWords; ++i) {
    wrong += words[kWords + i] != left * 10'000 + static_cast<int32_t>(i);
    wrong += words[2 * kWords + i] != right * 10'000 + static_cast<int32_t>(i);
  }
  CHECK(wrong == 0);
  // On a host thread the same names ask the library.
  CHECK(aclshmemx_team_size(team) == n_pes);
  CHECK(aclshmemx_team_global_rank(team) == pe);
  aclshmemx_team_sync(team);
  aclshmem_free(words);
}

// FAULTS M3: a graph of collectives replayed with changing input gives every replay its own result.
void check_graph(const aclshmemx_team_t& team, int n_pes, aclrtStream stream, uint32_t blocks,
                 int replays) {
  constexpr size_t kSome = 333;
  std::vector<int32_t> mine(kSome);
  std::vector<int32_t> sums(kSome);
  std::vector<int32_t> all(kSome * static_cast<size_t>(n_pes));
  int32_t step = 0;
  int32_t wrong = 0;
  aclmdlRI graph = nullptr;
  CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) == 0);
  gather_next<<<blocks, nullptr, stream>>>(team, &step, mine.data(), all.data(), sums.data(),
                                           kSome);
  check_next<<<1, nullptr, stream>>>(&step, all.data(), sums.data(), n_pes, kSome, &wrong);
  CHECK(aclmdlRICaptureEnd(stream, &graph) == 0);
  CHECK(step == 0);  // recorded, not run
  for (int replay = 0; replay < replays; ++replay) CHECK(aclmdlRIExecuteAsync(graph, stream) == 0);
  CHECK(aclrtSynchronizeStream(stream) == 0);
  CHECK(step == replays);
  CHECK(wrong == 0);
  CHECK(aclmdlRIDestroy(graph) == 0);
}

int run(int n_pes, int pe, const char* address) {
  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr) == 0);
  CHECK(aclrtSetDevice(pe) == 0);
  CHECK(aclrtCreateStream(&stream) == 0);
  aclshmemx_init_attr_t attributes;
  attributes.my_pe = pe;
  attributes.n_pes = n_pes;
  attributes.local_mem_size = 16UL << 20;
  std::strncpy(attributes.ip_port, address, sizeof attributes.ip_port - 1);
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) != 0) return 1;

  // A handle is a record of which the library looks at the number only.
  static aclshmemx_team_t team;
  team.team_idx = ACLSHMEM_TEAM_WORLD;
  check_collectives(team, n_pes, pe, stream);
  check_exchange(team, n_pes, pe, stream);
  check_graph(team, n_pes, stream, 1, 200);
  check_graph(team, n_pes, stream, 48, 20);

  CHECK(aclshmem_finalize() == 0);
  CHECK(aclrtDestroyStream(stream) == 0);
  CHECK(aclrtResetDevice(pe) == 0);
  CHECK(aclFinalize() == 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run_pe(argc, argv, run); }
