// Kernel calls with pointers, PEs and counts that cannot be right: each ends its kernel with a text
// that names kernel, call and argument, or is recorded as an error of the instance.
#define __CCE_AICORE__ 220
#include <gmock/gmock.h>

#include <mutex>

#include "device/shmem_device.h"
#include "tests/kernel/world.h"

namespace symm::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

int32_t* heap(uint64_t offset = 0) {
  return reinterpret_cast<int32_t*>(static_cast<char*>(aclshmemi_get_state()->heap_base) + offset);
}

int32_t* nothing() {
  int32_t* volatile pointer = nullptr;
  return pointer;
}

struct Case {
  const char* call;  // as the message names it
  const char* fault;
  std::function<void()> body;
};

TEST(KernelMisuse, CallsNameWhatIsWrong) {
  constexpr size_t kHuge = size_t{1} << 61;  // elements whose bytes do not fit 64 bits
  const Case cases[] = {
      {"aclshmem_int32_put_nbi", "the source is",
       [] { aclshmem_int32_put_nbi(heap(), nothing(), 4, 1); }},
      {"aclshmem_int32_get_nbi", "the destination is",
       [] { aclshmem_int32_get_nbi(nothing(), heap(), 4, 1); }},
      {"aclshmem_putmem", "the source is", [] { aclshmem_putmem(heap(), nothing(), 4, 1); }},
      {"aclshmem_getmem", "the destination is", [] { aclshmem_getmem(nothing(), heap(), 4, 1); }},
      {"aclshmem_putmem", "is not symmetric memory",
       [] { aclshmem_putmem(nothing(), heap(), 4, 1); }},
      {"aclshmem_putmem", "there is no PE 2, PEs are 0..1",
       [] { aclshmem_putmem(heap(), heap(), 4, 2); }},
      {"aclshmem_putmem", "there is no PE -1", [] { aclshmem_putmem(heap(), heap(), 4, -1); }},
      {"aclshmem_putmem", "run over its end",
       [] { aclshmem_putmem(heap(), heap(), World::kHeapBytes + 1, 1); }},
      {"aclshmem_int32_put_nbi", "run over its end",
       [] { aclshmem_int32_put_nbi(heap(), heap(64), kHuge * 2 + 1, 1); }},
      {"aclshmem_int32_iput", "run over its end",
       [] { aclshmem_int32_iput(heap(), heap(64), PTRDIFF_MAX, 1, 3, 1); }},
      {"aclshmem_int32_iput", "the source is",
       [] { aclshmem_int32_iput(heap(), nothing(), 1, 1, 3, 1); }},
      {"aclshmem_int32_p", "is not symmetric memory", [] { aclshmem_int32_p(nothing(), 1, 1); }},
      {"aclshmem_int32_g", "there is no PE 7", [] { (void)aclshmem_int32_g(heap(), 7); }},
      {"aclshmemx_roce_put_nbi", "the source is",
       [] { aclshmemx_roce_put_nbi(heap(), nothing(), symm::ub_cast<int32_t>(0), 4, 1); }},
      {"aclshmemx_roce_get_nbi", "the destination is",
       [] { aclshmemx_roce_get_nbi(nothing(), heap(), symm::ub_cast<int32_t>(0), 4, 1); }},
      {"aclshmemx_roce_put_nbi", "there is no PE 9",
       [] { aclshmemx_roce_put_nbi(heap(), heap(64), symm::ub_cast<int32_t>(0), 4, 9); }},
      {"aclshmemx_signal_op", "is not symmetric memory",
       [] { aclshmemx_signal_op(nothing(), 1, ACLSHMEM_SIGNAL_SET, 1); }},
      {"aclshmem_signal_wait_until", "the address of the values is",
       [] { (void)aclshmem_signal_wait_until(nothing(), ACLSHMEM_CMP_EQ, 1); }},
      {"aclshmem_int32_wait_until", "the address of the values is",
       [] { aclshmem_int32_wait_until(nothing(), ACLSHMEM_CMP_EQ, 1); }},
      {"aclshmem_int32_wait_until", "pass an aligned address",
       [] {
         aclshmem_int32_wait_until(reinterpret_cast<int32_t*>(reinterpret_cast<char*>(heap()) + 2),
                                   ACLSHMEM_CMP_EQ, 1);
       }},
      {"aclshmem_int32_test", "the address of the values is",
       [] { (void)aclshmem_int32_test(nothing(), ACLSHMEM_CMP_EQ, 1); }},
      {"aclshmem_int32_wait_until_any", "a count that fits",
       [] { (void)aclshmem_int32_wait_until_any(heap(), SIZE_MAX, nullptr, ACLSHMEM_CMP_EQ, 1); }},
      {"aclshmem_int32_wait_until_some", "the array of indices is",
       [] {
         (void)aclshmem_int32_wait_until_some(heap(), 4, nullptr, nullptr, ACLSHMEM_CMP_EQ, 0);
       }},
      {"aclshmem_int32_test_any", "a count that fits",
       [] { (void)aclshmem_int32_test_any(heap(), SIZE_MAX, nullptr, ACLSHMEM_CMP_EQ, 1); }},
      {"aclshmem_int32_atomic_add", "is not symmetric memory",
       [] { aclshmem_int32_atomic_add(nothing(), 1, 1); }},
  };
  for (const Case& c : cases) {
    World world({.pes = 2});
    const auto errors = world.run(2, [&](int pe) {
      if (pe == 0 && AscendC::GetBlockIdx() == 1) c.body();
    });
    EXPECT_THAT(errors[0], AllOf(HasSubstr("kernel_test"), HasSubstr("block 1"),
                                 HasSubstr(std::string(c.call) + " on PE 0"), HasSubstr(c.fault)))
        << c.call;
    EXPECT_EQ(errors[1], "");
  }
}

// What is fine stays fine: nothing to move needs no memory.
TEST(KernelMisuse, EmptyTransfersNeedNoMemory) {
  World world({.pes = 2});
  world.run_ok(1, [](int pe) {
    aclshmem_putmem(heap(), nothing(), 0, 1 - pe);
    aclshmem_int32_get_nbi(nothing(), heap(), 0, 1 - pe);
    EXPECT_EQ(aclshmem_int32_wait_until_any(nothing(), 0, nullptr, ACLSHMEM_CMP_EQ, 1), SIZE_MAX);
    EXPECT_EQ(aclshmem_int32_test_some(nothing(), 0, nullptr, nullptr, ACLSHMEM_CMP_EQ, 1), 0u);
  });
}

TEST(KernelMisuse, UnknownComparisonsReturnAtOnceAndAreRecorded) {
  static std::mutex mutex;
  static std::string recorded;
  World world({.pes = 1});
  recorded.clear();
  world.state(0).report = [](void*, int code, const char* text) {
    std::lock_guard lock(mutex);
    recorded = text;
    return code;
  };
  auto expect_recorded = [&](const char* call) {
    std::lock_guard lock(mutex);
    EXPECT_THAT(recorded, AllOf(HasSubstr(call), HasSubstr("there is no comparison 17")));
    recorded.clear();
  };
  world.run_ok(1, [](int) { (void)aclshmem_signal_wait_until(heap(), 17, 5); });
  expect_recorded("aclshmem_signal_wait_until");
  world.run_ok(1, [](int) { EXPECT_EQ(aclshmem_int32_test(heap(), 17, 0), 0); });
  expect_recorded("aclshmem_int32_test");
  world.run_ok(1, [](int) {
    EXPECT_EQ(aclshmem_int32_wait_until_any(heap(), 2, nullptr, 17, 0), SIZE_MAX);
  });
  expect_recorded("aclshmem_int32_wait_until_any");
}

}  // namespace
}  // namespace symm::test
