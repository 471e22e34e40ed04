// Blocks of a key-value cache change places between the PEs: every block knows where it must go,
// and goes there by a put with a signal behind it. No barrier in the kernel: who waits, waits for
// the blocks that it gets.
#include "../utils/demo.h"

namespace {

constexpr int32_t kSlots = 12;         // cache blocks of a PE
constexpr int32_t kBlockWords = 4096;  // int32 of the keys of a block; as many of the values
constexpr uint32_t kCores = 3;
constexpr int kRounds = 4;

// What the cache of a PE consists of; all pointers are symmetric.
struct Cache {
  int32_t* keys;      // kSlots blocks
  int32_t* values;    // kSlots blocks
  int32_t* new_keys;  // where the blocks of others arrive
  int32_t* new_values;
  int32_t* target_pe;  // per slot: where its block goes
  int32_t* target_slot;
  int32_t* arrived;  // per slot: number of the last round whose block is here
};

}  // namespace

ACLSHMEM_GLOBAL_VECTOR void shuffle(Cache cache, int32_t round) {
  const int32_t cores = static_cast<int32_t>(AscendC::GetBlockNum());
  const int32_t core = static_cast<int32_t>(AscendC::GetBlockIdx());
  for (int32_t slot = core; slot < kSlots; slot += cores) {
    const int32_t pe = cache.target_pe[slot];
    const int32_t to = cache.target_slot[slot];
    aclshmem_int32_put_nbi(cache.new_keys + to * kBlockWords, cache.keys + slot * kBlockWords,
                           kBlockWords, pe);
    aclshmem_int32_put_nbi(cache.new_values + to * kBlockWords, cache.values + slot * kBlockWords,
                           kBlockWords, pe);
    aclshmem_quiet();  // the block is there before its signal
    aclshmemx_signal_op(cache.arrived + to, round, ACLSHMEM_SIGNAL_SET, pe);
  }
  for (int32_t slot = core; slot < kSlots; slot += cores) {
    aclshmem_signal_wait_until(cache.arrived + slot, ACLSHMEM_CMP_EQ, round);
  }
}

namespace {

// The block that round r puts at place p of the whole cache comes from place source(p).
int32_t source(int32_t place, int32_t places, int round) {
  return (place + 5 * round + 1) % places;
}

int32_t word_of(int32_t block, int32_t i, bool value) {
  return block * 100003 + i * 2 + (value ? 1 : 0);
}

bool allocate(Cache* cache) {
  constexpr uint64_t kWords = uint64_t{kSlots} * kBlockWords;
  cache->keys = demo::symmetric_of<int32_t>(kWords);
  cache->values = demo::symmetric_of<int32_t>(kWords);
  cache->new_keys = demo::symmetric_of<int32_t>(kWords);
  cache->new_values = demo::symmetric_of<int32_t>(kWords);
  cache->target_pe = demo::symmetric_of<int32_t>(kSlots);
  cache->target_slot = demo::symmetric_of<int32_t>(kSlots);
  cache->arrived = demo::symmetric_of<int32_t>(kSlots);
  for (const int32_t* memory : {cache->keys, cache->values, cache->new_keys, cache->new_values,
                                cache->target_pe, cache->target_slot, cache->arrived}) {
    if (memory == nullptr) return false;
  }
  return true;
}

// Tells every own block where it goes this round.
bool plan(const demo::Arguments& arguments, const Cache& cache, int round) {
  const int32_t places = arguments.n_pes * kSlots;
  std::vector<int32_t> pe(kSlots);
  std::vector<int32_t> slot(kSlots);
  for (int32_t place = 0; place < places; ++place) {
    const int32_t from = source(place, places, round);
    if (from / kSlots != arguments.pe_id) continue;
    pe[static_cast<size_t>(from % kSlots)] = place / kSlots;
    slot[static_cast<size_t>(from % kSlots)] = place % kSlots;
  }
  constexpr size_t kBytes = kSlots * sizeof(int32_t);
  DEMO_CHECK(aclrtMemcpy(cache.target_pe, kBytes, pe.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  DEMO_CHECK(
      aclrtMemcpy(cache.target_slot, kBytes, slot.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return true;
}

// blocks[s]: which block slot s must hold.
bool check(const int32_t* device, const std::vector<int32_t>& blocks, bool value, int round) {
  std::vector<int32_t> host(static_cast<size_t>(kSlots) * kBlockWords);
  const size_t bytes = host.size() * sizeof(int32_t);
  DEMO_CHECK(aclrtMemcpy(host.data(), bytes, device, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (size_t i = 0; i < host.size(); ++i) {
    const int32_t wanted =
        word_of(blocks[i / kBlockWords], static_cast<int32_t>(i % kBlockWords), value);
    if (host[i] == wanted) continue;
    std::fprintf(stderr, "round %d, slot %zu, %s: got %d, wanted %d\n", round, i / kBlockWords,
                 value ? "value" : "key", host[i], wanted);
    return false;
  }
  return true;
}

bool fill(const demo::Arguments& arguments, const Cache& cache) {
  std::vector<int32_t> host(static_cast<size_t>(kSlots) * kBlockWords);
  const size_t bytes = host.size() * sizeof(int32_t);
  for (bool value : {false, true}) {
    for (size_t i = 0; i < host.size(); ++i) {
      host[i] = word_of(arguments.pe_id * kSlots + static_cast<int32_t>(i / kBlockWords),
                        static_cast<int32_t>(i % kBlockWords), value);
    }
    int32_t* device = value ? cache.values : cache.keys;
    DEMO_CHECK(aclrtMemcpy(device, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  return true;
}

bool run(const demo::Arguments& arguments) {
  aclrtStream stream = nullptr;
  Cache cache{};
  if (!demo::start(arguments, &stream) || !allocate(&cache) || !fill(arguments, cache)) {
    return false;
  }
  const int32_t places = arguments.n_pes * kSlots;
  std::vector<int32_t> holds(static_cast<size_t>(places));  // block at every place of the cache
  for (int32_t place = 0; place < places; ++place) holds[static_cast<size_t>(place)] = place;
  bool good = true;
  for (int round = 1; round <= kRounds; ++round) {
    if (!plan(arguments, cache, round)) return false;
    aclshmem_barrier_all();  // nobody overwrites new_keys that its owner still looks at
    shuffle<<<kCores, nullptr, stream>>>(cache, round);
    DEMO_CHECK(aclrtSynchronizeStream(stream));
    std::vector<int32_t> next(holds.size());
    for (int32_t place = 0; place < places; ++place) {
      next[static_cast<size_t>(place)] = holds[static_cast<size_t>(source(place, places, round))];
    }
    holds = next;
    const auto first = holds.begin() + arguments.pe_id * kSlots;
    const std::vector<int32_t> mine(first, first + kSlots);
    good = good && check(cache.new_keys, mine, false, round) &&
           check(cache.new_values, mine, true, round);
    std::swap(cache.keys, cache.new_keys);  // the same on every PE
    std::swap(cache.values, cache.new_values);
  }
  for (int32_t* memory : {cache.arrived, cache.target_slot, cache.target_pe, cache.new_values,
                          cache.new_keys, cache.values, cache.keys}) {
    aclshmem_free(memory);
  }
  return demo::finish(arguments, stream) && good;
}

}  // namespace

int main(int argc, char** argv) { return demo::main_of(argc, argv, run); }
