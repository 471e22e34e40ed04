// Teams that the host has made, in kernels: queries, barriers and collectives on rows, columns and
// a reversed team, over real instances, one process per PE. usage: kernel_teams n_pes pe ip_port
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

constexpr int32_t kBlocks = 2;
constexpr size_t kCount = 5000;

}  // namespace

// What the queries say: number, size, world PE of the next member, the own number translated.
__global__ void ask(int32_t team, int32_t* out) {
  const int32_t me = aclshmem_team_my_pe(team);
  const int32_t size = aclshmem_team_n_pes(team);
  out[0] = me;
  out[1] = size;
  out[2] = aclshmem_team_pe_mapping(team, (me + 1) % size);
  out[3] = aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, aclshmem_my_pe(), team);
  out[4] = aclshmem_team_translate_pe(team, size, ACLSHMEM_TEAM_WORLD);
}

// Writes to the next member, meets, and reads what the one before has written; many rounds.
__global__ void pass_on(int32_t team, int32_t* words, int32_t rounds, int32_t* wrong) {
  const int32_t me = aclshmem_team_my_pe(team);
  const int32_t size = aclshmem_team_n_pes(team);
  const int32_t next = aclshmem_team_pe_mapping(team, (me + 1) % size);
  for (int32_t round = 1; round <= rounds; ++round) {
    if (AscendC::GetBlockIdx() == 0) {
      aclshmem_int32_p(words, round * 100 + me, next);
    }
    aclshmemx_barrier_vec(team);
    if (AscendC::GetBlockIdx() == 0 && words[0] != round * 100 + (me + size - 1) % size) ++*wrong;
    aclshmemx_barrier_vec(team);
  }
}

__global__ void sum_up(aclshmemx_team_t team, const float* in, float* out, size_t count) {
  aclshmemx_allreduce(team, in, out, count, ACLSHMEMX_SUM, ACLSHMEMX_FLOAT32);
}

namespace {

void check(aclshmem_team_t number, int pe, int32_t* words, aclrtStream stream) {
  const int me = aclshmem_team_my_pe(number);
  const int size = aclshmem_team_n_pes(number);
  CHECK(size > 0 && aclshmem_team_translate_pe(number, me, ACLSHMEM_TEAM_WORLD) == pe);
  int32_t answers[5] = {};
  ask<<<1, nullptr, stream>>>(number, answers);
  CHECK(aclrtSynchronizeStream(stream) == 0);
  CHECK(answers[0] == me && answers[1] == size && answers[3] == me && answers[4] == -1);
  CHECK(answers[2] == aclshmem_team_translate_pe(number, (me + 1) % size, ACLSHMEM_TEAM_WORLD));
  int32_t wrong = 0;
  pass_on<<<kBlocks, nullptr, stream>>>(number, words, 20, &wrong);
  CHECK(aclrtSynchronizeStream(stream) == 0);
  CHECK(wrong == 0);
  aclshmem_barrier(number);
  std::vector<float> in(kCount);
  std::vector<float> out(kCount);
  for (size_t i = 0; i < kCount; ++i) in[i] = static_cast<float>(pe + 1 + static_cast<int>(i % 7));
  static aclshmemx_team_t handle;
  handle.team_idx = number;
  sum_up<<<kBlocks, nullptr, stream>>>(handle, in.data(), out.data(), kCount);
  CHECK(aclrtSynchronizeStream(stream) == 0);
  size_t bad = 0;
  for (size_t i = 0; i < kCount; ++i) {
    float wanted = 0;
    for (int m = 0; m < size; ++m) {
      wanted += static_cast<float>(aclshmem_team_translate_pe(number, m, ACLSHMEM_TEAM_WORLD) + 1 +
                                   static_cast<int>(i % 7));
    }
    bad += out[i] != wanted;
  }
  CHECK(bad == 0);
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
  auto* words = static_cast<int32_t*>(aclshmem_calloc(16, sizeof(int32_t)));
  CHECK(words != nullptr);
  // Numbers and places differ between the PEs from here on.
  for (int i = 0; i < pe; ++i) {
    aclshmem_team_t alone;
    CHECK(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, pe, 1, 1, &alone) == 0);
  }
  aclshmem_team_t row = -1;
  aclshmem_team_t column = -1;
  aclshmem_team_t reversed = -1;
  CHECK(aclshmem_team_split_2d(ACLSHMEM_TEAM_WORLD, 2, &row, &column) == 0);
  CHECK(aclshmem_team_split_strided(ACLSHMEM_TEAM_WORLD, n_pes - 1, -1, n_pes, &reversed) == 0);
  for (aclshmem_team_t team : {row, column, reversed, aclshmem_team_t{ACLSHMEM_TEAM_WORLD}}) {
    check(team, pe, words, stream);
    aclshmem_barrier_all();
  }
  for (aclshmem_team_t team : {row, column, reversed}) aclshmem_team_destroy(team);
  CHECK(aclshmemx_last_error(nullptr, 0, true) == 0);
  // A kernel on a team that is gone ends with an error.
  int32_t wrong = 0;
  pass_on<<<kBlocks, nullptr, stream>>>(row, words, 1, &wrong);
  CHECK(aclrtSynchronizeStream(stream) != 0);
  aclshmem_barrier_all();
  CHECK(aclrtDestroyStream(stream) == 0);
  CHECK(aclshmem_finalize() == 0);
  CHECK(aclrtResetDevice(pe) == 0);
  CHECK(aclFinalize() == 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run_pe(argc, argv, run); }
