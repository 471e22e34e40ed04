// One PE of the example: captures add -> allgather -> allgather -> add in a graph, replays it in
// every round and checks the slices of all PEs on the host. The allgathers synchronise by signals;
// README.md says why any number of replays is right.
#include "../utils/demo.h"
#include "aclgraph_signal_kernel.h"

namespace {

constexpr uint64_t kSliceBytes = kElementsPerPe * sizeof(int32_t);

struct Buffers {
  uint8_t* base = nullptr;      // symmetric, one slice: 10 + pe, constant
  uint8_t* sum = nullptr;       // symmetric, one slice: grows by base in every replay
  uint8_t* all_base = nullptr;  // symmetric, one slice per PE
  uint8_t* all_sum = nullptr;   // symmetric, one slice per PE
  AllgatherSignals signals = {};
  uint8_t* result = nullptr;  // device, one slice per PE: all_sum + all_base
  int32_t* host = nullptr;    // copy of the result
  uint64_t result_bytes = 0;
};

bool allocate(const demo::Arguments& arguments, Buffers* buffers) {
  buffers->result_bytes = kSliceBytes * static_cast<uint64_t>(arguments.n_pes);
  buffers->base = demo::symmetric(kSliceBytes);
  buffers->sum = demo::symmetric(kSliceBytes);
  buffers->all_base = demo::symmetric(buffers->result_bytes);
  buffers->all_sum = demo::symmetric(buffers->result_bytes);
  const uint64_t signal_bytes = sizeof(int32_t) * static_cast<uint64_t>(arguments.n_pes);
  buffers->signals.ready = demo::symmetric(signal_bytes);
  buffers->signals.arrived = demo::symmetric(signal_bytes);
  for (const uint8_t* memory : {buffers->base, buffers->sum, buffers->all_base, buffers->all_sum,
                                buffers->signals.ready, buffers->signals.arrived}) {
    if (memory == nullptr) return false;
  }
  DEMO_CHECK(aclrtMalloc(reinterpret_cast<void**>(&buffers->result), buffers->result_bytes,
                         ACL_MEM_MALLOC_HUGE_FIRST));
  DEMO_CHECK(aclrtMalloc(reinterpret_cast<void**>(&buffers->signals.epoch), sizeof(int32_t),
                         ACL_MEM_MALLOC_HUGE_FIRST));
  DEMO_CHECK(aclrtMemset(buffers->signals.epoch, sizeof(int32_t), 0, sizeof(int32_t)));
  DEMO_CHECK(aclrtMallocHost(reinterpret_cast<void**>(&buffers->host), buffers->result_bytes));

  const std::vector<int32_t> start(kElementsPerPe, demo::base_value(arguments.pe_id));
  for (uint8_t* slice : {buffers->base, buffers->sum}) {
    DEMO_CHECK(
        aclrtMemcpy(slice, kSliceBytes, start.data(), kSliceBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  return true;
}

// Runs nothing: the launches become nodes of the graph.
bool capture(const demo::Arguments& arguments, const Buffers& buffers, aclrtStream stream,
             aclmdlRI* graph) {
  DEMO_CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  launch_add(1, stream, buffers.sum, buffers.sum, buffers.base);
  launch_allgather(stream, buffers.all_sum, buffers.sum, buffers.signals);
  launch_allgather(stream, buffers.all_base, buffers.base, buffers.signals);
  launch_add(static_cast<uint32_t>(arguments.n_pes), stream, buffers.result, buffers.all_sum,
             buffers.all_base);
  DEMO_CHECK(aclmdlRICaptureEnd(stream, graph));
  return true;
}

// A wrong result does not leave the loop: the other PEs wait for the signals of this one in their
// replays.
bool run_rounds(const demo::Arguments& arguments, const Buffers& buffers, aclrtStream stream,
                int rounds, bool* correct) {
  aclmdlRI graph = nullptr;
  std::vector<double> times_us;
  *correct = true;
  for (int round = 0; round < rounds; ++round) {
    if (round == 0 && !capture(arguments, buffers, stream, &graph)) return false;
    const double start = demo::now_us();
    DEMO_CHECK(aclmdlRIExecuteAsync(graph, stream));
    DEMO_CHECK(aclrtSynchronizeStream(stream));
    times_us.push_back(demo::now_us() - start);
    DEMO_CHECK(aclrtMemcpy(buffers.host, buffers.result_bytes, buffers.result, buffers.result_bytes,
                           ACL_MEMCPY_DEVICE_TO_HOST));
    // Once wrong, all later rounds are: one message is enough.
    *correct = *correct && demo::verify(buffers.host, arguments.n_pes, kElementsPerPe, round);
  }
  DEMO_CHECK(aclmdlRIDestroy(graph));
  std::printf("relative pe %d: %d rounds, median %.1f us per replay\n", arguments.relative_pe(),
              rounds, demo::median(times_us));
  return true;
}

bool release(const Buffers& buffers) {
  DEMO_CHECK(aclrtFreeHost(buffers.host));
  DEMO_CHECK(aclrtFree(buffers.signals.epoch));
  DEMO_CHECK(aclrtFree(buffers.result));
  for (uint8_t* memory : {buffers.signals.arrived, buffers.signals.ready, buffers.all_sum,
                          buffers.all_base, buffers.sum, buffers.base}) {
    aclshmem_free(memory);
  }
  return true;
}

bool run(const demo::Arguments& arguments, int rounds) {
  aclrtStream stream = nullptr;
  Buffers buffers;
  bool correct = false;
  return demo::start(arguments, &stream) && allocate(arguments, &buffers) &&
         run_rounds(arguments, buffers, stream, rounds, &correct) && release(buffers) &&
         demo::finish(arguments, stream) && correct;
}

}  // namespace

int main(int argc, char** argv) { return demo::main_of(argc, argv, "ACLGRAPH_SIGNAL_ROUNDS", run); }
