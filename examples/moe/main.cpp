// Mixture of experts: every token goes to the PEs of its experts (dispatch), is transformed there,
// comes back and is summed with its weights (combine). One kernel; signals that carry the number of
// rows take the place of barriers.
#include "../utils/demo.h"

namespace {

constexpr int32_t kTokens = 40;   // per PE
constexpr int32_t kHidden = 256;  // floats of a token
constexpr int32_t kTopK = 3;      // experts of a token
constexpr int32_t kExpertsPerPe = 4;
constexpr int32_t kRows = kTokens * kTopK;  // most that one PE can send to another
constexpr uint32_t kCores = 4;

// All pointers are symmetric. Lists are per PE at the other end.
struct Moe {
  float* tokens;          // kTokens x kHidden
  int32_t* experts;       // kTokens x kTopK
  float* weights;         // kTokens x kTopK
  float* out;             // kTokens x kHidden
  float* inbox;           // n_pes x kRows x kHidden: tokens from each PE
  int32_t* inbox_expert;  // n_pes x kRows
  float* results;         // n_pes x kRows x kHidden: what each PE made of our tokens
  int32_t* arrived;       // n_pes: 1 + number of rows from each PE
  int32_t* returned;      // n_pes: 1 when its results are here
};

}  // namespace

// Stands for the network of an expert.
__aicore__ inline float expert_of(int32_t expert, float x) {
  return x * (1.0f + 0.25f * static_cast<float>(expert)) + static_cast<float>(expert);
}

// Sends the tokens whose experts live on pe, in the order of (token, choice).
__aicore__ inline void dispatch_to(const Moe& moe, int pe) {
  const int me = aclshmem_my_pe();
  int32_t row = me * kRows;
  for (int32_t choice = 0; choice < kRows; ++choice) {
    const int32_t expert = moe.experts[choice];
    if (expert / kExpertsPerPe != pe) continue;
    aclshmem_float_put_nbi(moe.inbox + row * kHidden, moe.tokens + choice / kTopK * kHidden,
                           kHidden, pe);
    aclshmem_int32_p(moe.inbox_expert + row, expert, pe);
    ++row;
  }
  aclshmem_quiet();  // the rows are there before their number
  aclshmemx_signal_op(moe.arrived + me, 1 + row - me * kRows, ACLSHMEM_SIGNAL_SET, pe);
}

// Applies the experts of this PE to the rows from pe and sends them back.
__aicore__ inline void serve(const Moe& moe, int pe) {
  const int me = aclshmem_my_pe();
  const int32_t count = aclshmem_signal_wait_until(moe.arrived + pe, ACLSHMEM_CMP_GE, 1) - 1;
  float* first = moe.inbox + pe * kRows * kHidden;
  for (int32_t row = 0; row < count; ++row) {
    const int32_t expert = moe.inbox_expert[pe * kRows + row];
    for (int32_t i = 0; i < kHidden; ++i) {
      first[row * kHidden + i] = expert_of(expert, first[row * kHidden + i]);
    }
  }
  aclshmem_float_put_nbi(moe.results + me * kRows * kHidden, first,
                         static_cast<size_t>(count * kHidden), pe);
  aclshmem_quiet();
  aclshmemx_signal_op(moe.returned + me, 1, ACLSHMEM_SIGNAL_SET, pe);
}

// out = sum of weight * result for the tokens of this core. The row of a choice is the number of
// earlier choices that went to the same PE.
__aicore__ inline void combine(const Moe& moe, int32_t core, int32_t cores) {
  const int n = aclshmem_n_pes();
  for (int pe = 0; pe < n; ++pe) {
    aclshmem_signal_wait_until(moe.returned + pe, ACLSHMEM_CMP_EQ, 1);
  }
  for (int32_t choice = 0; choice < kRows; ++choice) {
    const int32_t token = choice / kTopK;
    if (token % cores != core) continue;
    const int32_t pe = moe.experts[choice] / kExpertsPerPe;
    int32_t row = pe * kRows;
    for (int32_t i = 0; i < choice; ++i) row += moe.experts[i] / kExpertsPerPe == pe ? 1 : 0;
    for (int32_t i = 0; i < kHidden; ++i) {
      moe.out[token * kHidden + i] += moe.weights[choice] * moe.results[row * kHidden + i];
    }
  }
}

ACLSHMEM_GLOBAL_VECTOR void moe_layer(Moe moe) {
  const int32_t cores = static_cast<int32_t>(AscendC::GetBlockNum());
  const int32_t core = static_cast<int32_t>(AscendC::GetBlockIdx());
  const int n = aclshmem_n_pes();
  for (int pe = core; pe < n; pe += cores) dispatch_to(moe, pe);
  for (int pe = core; pe < n; pe += cores) serve(moe, pe);
  combine(moe, core, cores);
}

namespace {

float token_of(int pe, int32_t token, int32_t i) {
  return static_cast<float>(pe * 10 + token) + 0.5f * static_cast<float>(i % 8);
}
int32_t choice_of(const demo::Arguments& a, int32_t token, int32_t k) {
  // three different experts, spread unevenly
  const int32_t experts = a.n_pes * kExpertsPerPe;
  return (token * token + a.pe_id * 3 + k) % experts;
}
float weight_of(int32_t k) { return 1.0f / static_cast<float>(1 << (k + 1)); }

bool allocate(int n_pes, Moe* moe) {
  const auto n = static_cast<uint64_t>(n_pes);
  constexpr uint64_t kRowFloats = uint64_t{kRows} * kHidden;
  moe->tokens = demo::symmetric_of<float>(kTokens * kHidden);
  moe->experts = demo::symmetric_of<int32_t>(kRows);
  moe->weights = demo::symmetric_of<float>(kRows);
  moe->out = demo::symmetric_of<float>(kTokens * kHidden);
  moe->inbox = demo::symmetric_of<float>(n * kRowFloats);
  moe->inbox_expert = demo::symmetric_of<int32_t>(n * kRows);
  moe->results = demo::symmetric_of<float>(n * kRowFloats);
  moe->arrived = demo::symmetric_of<int32_t>(n);
  moe->returned = demo::symmetric_of<int32_t>(n);
  return moe->returned != nullptr && moe->arrived != nullptr && moe->results != nullptr &&
         moe->inbox_expert != nullptr && moe->inbox != nullptr && moe->out != nullptr &&
         moe->weights != nullptr && moe->experts != nullptr && moe->tokens != nullptr;
}

bool fill(const demo::Arguments& arguments, const Moe& moe) {
  std::vector<float> tokens(kTokens * kHidden);
  std::vector<int32_t> experts(kRows);
  std::vector<float> weights(kRows);
  for (int32_t token = 0; token < kTokens; ++token) {
    for (int32_t i = 0; i < kHidden; ++i) {
      tokens[static_cast<size_t>(token * kHidden + i)] = token_of(arguments.pe_id, token, i);
    }
    for (int32_t k = 0; k < kTopK; ++k) {
      experts[static_cast<size_t>(token * kTopK + k)] = choice_of(arguments, token, k);
      weights[static_cast<size_t>(token * kTopK + k)] = weight_of(k);
    }
  }
  auto write = [](void* device, const auto& host) {
    const size_t bytes = host.size() * sizeof(host[0]);
    return aclrtMemcpy(device, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  };
  DEMO_CHECK(write(moe.tokens, tokens));
  DEMO_CHECK(write(moe.experts, experts));
  DEMO_CHECK(write(moe.weights, weights));
  return true;
}

bool check(const demo::Arguments& arguments, const Moe& moe) {
  std::vector<float> out(kTokens * kHidden);
  const size_t bytes = out.size() * sizeof(float);
  DEMO_CHECK(aclrtMemcpy(out.data(), bytes, moe.out, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int32_t token = 0; token < kTokens; ++token) {
    for (int32_t i = 0; i < kHidden; ++i) {
      // All values are multiples of 1/64 and small: float is exact, whatever the order.
      double wanted = 0;
      for (int32_t k = 0; k < kTopK; ++k) {
        const int32_t expert = choice_of(arguments, token, k);
        wanted += static_cast<double>(weight_of(k)) *
                  (token_of(arguments.pe_id, token, i) * (1.0 + 0.25 * expert) + expert);
      }
      const float got = out[static_cast<size_t>(token * kHidden + i)];
      if (static_cast<double>(got) == wanted) continue;
      std::fprintf(stderr, "token %d, element %d: got %g, wanted %g\n", token, i,
                   static_cast<double>(got), wanted);
      return false;
    }
  }
  return true;
}

bool run(const demo::Arguments& arguments) {
  aclrtStream stream = nullptr;
  Moe moe{};
  if (!demo::start(arguments, &stream) || !allocate(arguments.n_pes, &moe) ||
      !fill(arguments, moe)) {
    return false;
  }
  moe_layer<<<kCores, nullptr, stream>>>(moe);
  DEMO_CHECK(aclrtSynchronizeStream(stream));
  const bool good = check(arguments, moe);
  for (void* memory :
       {static_cast<void*>(moe.returned), static_cast<void*>(moe.arrived),
        static_cast<void*>(moe.results), static_cast<void*>(moe.inbox_expert),
        static_cast<void*>(moe.inbox), static_cast<void*>(moe.out), static_cast<void*>(moe.weights),
        static_cast<void*>(moe.experts), static_cast<void*>(moe.tokens)}) {
    aclshmem_free(memory);
  }
  return demo::finish(arguments, stream) && good;
}

}  // namespace

int main(int argc, char** argv) { return demo::main_of(argc, argv, run); }
