// Launches lambdas as kernels, the way the compiler wrapper does it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "acl/acl.h"
#include "ascendc/core_abi.h"

namespace symm::test {

// Counts closures that are alive, to see that each is dropped once.
inline std::atomic<int> live_closures{0};

template <typename F>
struct Closure {
  explicit Closure(F body, int vector_cores) : function(std::move(body)), aiv(vector_cores) {
    ++live_closures;
  }
  ~Closure() { --live_closures; }
  F function;
  int aiv;
};

// function(symm_core&) runs on every core; aiv vector cores per block.
template <typename F>
aclError launch(uint32_t blocks, aclrtStream stream, F function, int aiv = 1) {
  auto run = [](void* pointer) {
    auto* closure = static_cast<Closure<F>*>(pointer);
    if (!symm_rt_enter("test_kernel", closure->aiv == 2 ? 1 : 0, closure->aiv)) return;
    closure->function(*symm_rt_core());
  };
  auto drop = [](void* pointer) { delete static_cast<Closure<F>*>(pointer); };
  return symm_rt_launch(blocks, stream, run, drop, new Closure<F>(std::move(function), aiv),
                        nullptr, "test_kernel");
}

// A wait for a word to reach a value.
struct WordWait {
  std::atomic<uint64_t>* word;
  uint64_t wanted;
  symm_wait wait{};

  explicit WordWait(std::atomic<uint64_t>& target, uint64_t value,
                    symm_wait_domain* domain = nullptr)
      : word(&target), wanted(value) {
    wait.poll = [](void* argument) -> int {
      auto* self = static_cast<WordWait*>(argument);
      return self->word->load(std::memory_order_acquire) >= self->wanted;
    };
    wait.argument = this;
    wait.domain = domain;
    wait.call = "word_wait";
    wait.team = wait.peer = wait.compare = -1;
    wait.address = word;
    wait.wanted = static_cast<int64_t>(value);
  }
  WordWait(const WordWait&) = delete;
  WordWait& operator=(const WordWait&) = delete;
  int operator()() { return symm_rt_wait(&wait); }
};

inline std::string last_error() {
  const char* text = aclGetRecentErrMsg();
  return text != nullptr ? text : "";
}

class RuntimeTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(live_closures, 0);
  }
  aclrtStream stream_ = nullptr;
};

}  // namespace symm::test
