// Runs PEs as threads of this process over the in-memory bootstrap: the C calls of each thread act
// on its own instance.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap/mem_store.h"
#include "core/current.h"
#include "core/instance.h"

namespace symm::test {

inline std::string fresh_address() {
  static std::atomic<int> number{0};
  return "mem://job" + std::to_string(++number);
}

inline InstanceOptions thread_options(const std::string& address, int pe, int n_pes,
                                      uint64_t heap_bytes = 4 << 20) {
  InstanceOptions options;
  options.bootstrap = bootstrap::mem_store_table();
  options.address = address;
  options.pe = pe;
  options.n_pes = n_pes;
  options.heap_bytes = heap_bytes;
  options.engines = ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_ROCE;
  options.connect_timeout_s = 20;
  options.operation_timeout_s = 20;
  return options;
}

using Body = std::function<void(Instance& instance)>;
using Adjust = std::function<void(InstanceOptions& options)>;

struct Outcome {
  Status open;
  Status close;
};

// Opens n_pes instances, runs the body in each, closes them. Fails the test unless all of that is
// OK or `expect_ok` is false.
inline std::vector<Outcome> run_threads(int n_pes, const Body& body, bool expect_ok = true,
                                        const Adjust& adjust = {},
                                        const std::string& address = fresh_address()) {
  std::vector<Outcome> outcomes(static_cast<size_t>(n_pes));
  std::vector<std::thread> threads;
  for (int pe = 0; pe < n_pes; ++pe) {
    threads.emplace_back([&, pe] {
      Outcome& outcome = outcomes[static_cast<size_t>(pe)];
      InstanceOptions options = thread_options(address, pe, n_pes);
      if (adjust) adjust(options);
      auto opened = Instance::open(options);
      outcome.open = std::move(opened.status());
      if (!outcome.open.ok()) return;
      Instance& instance = *opened.value();
      {
        ScopedInstance scoped(&instance);
        body(instance);
      }
      outcome.close = instance.close();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int pe = 0; expect_ok && pe < n_pes; ++pe) {
    const Outcome& outcome = outcomes[static_cast<size_t>(pe)];
    EXPECT_TRUE(outcome.open.ok()) << "PE " << pe << ": " << outcome.open.to_string();
    EXPECT_TRUE(outcome.close.ok()) << "PE " << pe << ": " << outcome.close.to_string();
  }
  return outcomes;
}

}  // namespace symm::test
