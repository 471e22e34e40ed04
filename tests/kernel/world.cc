#include "tests/kernel/world.h"

#include <cstdlib>
#include <cstring>

#include "ascendc/core_abi.h"

namespace symm::test {
namespace {

constexpr size_t kTeams = 8;

struct Closure {
  std::function<void(int)> body;
  int pe;
  int cores_per_block;

  static void run(void* pointer) {
    auto* closure = static_cast<Closure*>(pointer);
    const int aiv = closure->cores_per_block;
    if (symm_rt_enter("kernel_test", aiv == 2 ? 1 : 0, aiv) == 0) return;
    closure->body(closure->pe);
  }
  static void drop(void* pointer) { delete static_cast<Closure*>(pointer); }
};

}  // namespace

World::World(const WorldOptions& options) : options_(options) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  for (int i = 0; i < options.pes; ++i) {
    auto pe = std::make_unique<Pe>();
    constexpr uint64_t kBytes = kHeapBytes + kScratchPieces * kScratchBytes;
    pe->heap.reset(static_cast<char*>(std::aligned_alloc(4096, kBytes)));
    std::memset(pe->heap.get(), 0, kBytes);
    pe->sync.resize(kTeams);
    pe->epochs.resize(kTeams);
    EXPECT_EQ(aclrtCreateStream(&pe->stream), ACL_SUCCESS);
    pes_.push_back(std::move(pe));
  }
  for (int i = 0; i < options.pes; ++i) fill(i);
  std::vector<int> all;
  for (int i = 0; i < options.pes; ++i) all.push_back(i);
  make_team(all);
}

World::~World() {
  // An engine's worker may still wake the waiters of another PE, so all engines end before the
  // memory of any PE.
  for (auto& pe : pes_) {
    pe->rdma.reset();
    pe->sdma.reset();
    pe->udma.reset();
  }
  for (auto& pe : pes_) {
    EXPECT_EQ(aclrtDestroyStream(pe->stream), ACL_SUCCESS);
    for (aclshmemx_team_t* team : pe->teams) std::free(team);
  }
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

void World::fill(int index) {
  Pe& pe = *pes_[static_cast<size_t>(index)];
  pe.domain.events = &pe.control.events;
  pe.domain.failure = &pe.failure;
  pe.domain.timeout_ms = static_cast<uint32_t>(options_.timeout_ms);
  pe.domain.pe = index;
  for (int i = 0; i < options_.pes; ++i) {
    Pe& other = *pes_[static_cast<size_t>(i)];
    bool mapped = true;
    for (int hidden : options_.unmapped) mapped = mapped && (hidden != i || i == index);
    pe.peer_heap.push_back(mapped ? other.heap.get() : nullptr);
    pe.peer_sync.push_back(mapped ? other.sync.data() : nullptr);
    pe.peer_control.push_back(mapped ? &other.control : nullptr);
    pe.state.base.topo_list[i] = mapped ? options_.topology : 0;
  }
  auto engine = [&](uint32_t kind, int queues) {
    dma::EngineOptions o;
    o.kind = kind;
    o.n_queues = queues;
    o.depth = options_.depth;
    o.delay_us = options_.delay_us;
    auto opened = dma::Engine::open(o, &pe.domain);
    EXPECT_TRUE(opened.ok());
    return std::move(opened).value();
  };
  pe.rdma = engine(ACLSHMEM_TRANSPORT_ROCE, options_.pes);
  pe.sdma = engine(ACLSHMEM_TRANSPORT_SDMA, SYMM_SDMA_CHANNELS);
  pe.udma = engine(ACLSHMEM_TRANSPORT_UDMA, options_.pes);
  symm_device_state& s = pe.state;
  s.base.mype = index;
  s.base.npes = options_.pes;
  s.base.heap_base = pe.heap.get();
  s.base.heap_size = kHeapBytes + kScratchPieces * kScratchBytes;
  s.base.mte_config = {0, 16 * 1024, 0};
  s.abi = SYMM_DEVICE_STATE_ABI;
  s.wait = &pe.domain;
  s.peer_heap = pe.peer_heap.data();
  s.peer_sync = pe.peer_sync.data();
  s.peer_control = pe.peer_control.data();
  s.heap_limit = kHeapBytes;
  s.team_epoch = pe.epochs.data();
  s.rdma = pe.rdma->shared();
  s.sdma = pe.sdma->shared();
  s.udma = pe.udma->shared();
  s.scratch = kHeapBytes;
  s.scratch_bytes = kScratchBytes;
  s.scratch_pieces = kScratchPieces;
  s.scratch_taken = &pe.scratch_taken;
}

int World::make_team(const std::vector<int>& members) {
  int number = 0;
  while (state(members[0]).base.team_pools[number] != nullptr) ++number;
  for (int member : members) {
    auto* team = static_cast<aclshmemx_team_t*>(std::calloc(1, sizeof(aclshmemx_team_t)));
    team->team_idx = number;
    team->size = static_cast<int>(members.size());
    for (int i = 0; i < ACLSHMEM_MAX_PES; ++i) team->pe_mapping[ACLSHMEM_MAX_PES + i] = -1;
    for (int i = 0; i < team->size; ++i) {
      const int world = members[static_cast<size_t>(i)];
      team->pe_mapping[i] = world;
      team->pe_mapping[ACLSHMEM_MAX_PES + world] = i;
      if (world == member) team->mype = i;
    }
    pes_[static_cast<size_t>(member)]->teams.push_back(team);
    state(member).base.team_pools[number] = team;
  }
  return number;
}

std::vector<std::string> World::run(uint32_t blocks, std::function<void(int)> body,
                                    int cores_per_block) {
  for (int i = 0; i < pes(); ++i) {
    auto* closure = new Closure{body, i, cores_per_block};
    EXPECT_EQ(symm_rt_launch(blocks, stream(i), Closure::run, Closure::drop, closure, &state(i),
                             "kernel_test"),
              ACL_SUCCESS);
  }
  std::vector<std::string> errors;
  for (int i = 0; i < pes(); ++i) {
    const aclError code = aclrtSynchronizeStream(stream(i));
    const char* text = code == ACL_SUCCESS ? "" : aclGetRecentErrMsg();
    errors.push_back(text != nullptr ? text : "error without text");
  }
  return errors;
}

void World::run_ok(uint32_t blocks, std::function<void(int)> body, int cores_per_block) {
  const auto errors = run(blocks, std::move(body), cores_per_block);
  for (size_t i = 0; i < errors.size(); ++i) EXPECT_EQ(errors[i], "") << "PE " << i;
}

}  // namespace symm::test
