// Address ranges, physical memory, and second views of memory that is mapped already.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "tests/runtime/kernel.h"

namespace symm::test {
namespace {

using testing::HasSubstr;

class MemoryTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    page_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  }
  char* reserve(size_t size, size_t alignment = 0) {
    void* range = nullptr;
    EXPECT_EQ(aclrtReserveMemAddress(&range, size, alignment, nullptr, 0), ACL_SUCCESS)
        << last_error();
    return static_cast<char*>(range);
  }
  // Shared memory as a symmetric heap is.
  char* shared(size_t size) {
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return static_cast<char*>(memory);
  }
  size_t page_ = 0;
};

TEST_F(MemoryTest, AliasShowsTheSameMemory) {
  char* heap = shared(4 * page_);
  char* range = reserve(3 * page_);
  // From the middle of the heap, over either link.
  ASSERT_EQ(aclrtMemMapSelectedLink(range, 2 * page_, heap + page_, ACL_RT_MEM_LINK_IDX_0),
            ACL_SUCCESS)
      << last_error();
  heap[page_] = 'a';
  range[2 * page_ - 1] = 'z';
  EXPECT_EQ(range[0], 'a');
  EXPECT_EQ(heap[3 * page_ - 1], 'z');
  ASSERT_EQ(aclrtMemMapSelectedLink(range + 2 * page_, page_, heap + page_, ACL_RT_MEM_LINK_IDX_1),
            ACL_SUCCESS);
  // Kernels and copies reach it like any memory.
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { range[2 * page_] = 'k'; }), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(range + 1, 1, range, 1, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(std::string(heap + page_, 2), "kk");
  EXPECT_EQ(aclrtReleaseMemAddress(range), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(last_error(), HasSubstr("2 mappings are left"));
  EXPECT_EQ(aclrtUnmapMem(range), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnmapMem(range), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtUnmapMem(range + 2 * page_), ACL_SUCCESS);
  EXPECT_EQ(heap[page_], 'k') << "the first view stays";
  EXPECT_EQ(aclrtReleaseMemAddress(range), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(range), ACL_ERROR_RT_PARAM_INVALID);
  ::munmap(heap, 4 * page_);
}

// The mapping must not reach into what lies behind the source.
TEST_F(MemoryTest, AliasEndsWithItsSource) {
  char* heap = shared(2 * page_);
  ASSERT_EQ(::munmap(heap + page_, page_), 0);
  char* range = reserve(2 * page_);
  EXPECT_EQ(aclrtMemMapSelectedLink(range, 2 * page_, heap, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(last_error(), HasSubstr("are not shared memory"));
  void* own = nullptr;
  ASSERT_EQ(aclrtMalloc(&own, 2 * page_, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  void* first =
      reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(own) + page_ - 1) / page_ * page_);
  EXPECT_EQ(aclrtMemMapSelectedLink(range, page_, first, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(last_error(), HasSubstr("symmetric heap"));
  EXPECT_EQ(aclrtMemMapSelectedLink(range, page_, heap, 7), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemMapSelectedLink(range + 1, page_, heap, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemMapSelectedLink(range, 3 * page_, heap, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemMapSelectedLink(heap, page_, heap, 0), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtMemMapSelectedLink(range, page_, heap, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemMapSelectedLink(range, page_, heap, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(last_error(), HasSubstr("overlap"));
  EXPECT_EQ(aclrtUnmapMem(range), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(range), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(own), ACL_SUCCESS);
  ::munmap(heap, page_);
}

TEST_F(MemoryTest, PhysicalMemoryHasAsManyAddressesAsItIsGiven) {
  aclrtPhysicalMemProp kind{};
  kind.memAttr = ACL_HBM_MEM_HUGE;
  kind.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle memory = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&memory, 2 * page_, &kind, 0), ACL_SUCCESS) << last_error();
  char* one = reserve(2 * page_);
  char* two = reserve(2 * page_, 1 << 21);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(two) % (1 << 21), 0u);
  ASSERT_EQ(aclrtMapMem(one, 2 * page_, 0, memory, 0), ACL_SUCCESS) << last_error();
  ASSERT_EQ(aclrtMapMem(two, page_, page_, memory, 0), ACL_SUCCESS);
  std::strcpy(one + page_, "same");
  EXPECT_STREQ(two, "same");
  EXPECT_EQ(aclrtMapMem(two + page_, 2 * page_, 0, memory, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMapMem(two + page_, page_, 2 * page_, memory, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreePhysical(memory), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(last_error(), HasSubstr("aclrtUnmapMem"));
  EXPECT_EQ(aclrtUnmapMem(one), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnmapMem(two), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(memory), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtReleaseMemAddress(one), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(two), ACL_SUCCESS);
}

TEST_F(MemoryTest, BadReservationsAreRefused) {
  void* range = nullptr;
  EXPECT_EQ(aclrtReserveMemAddress(nullptr, page_, 0, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtReserveMemAddress(&range, 0, 0, nullptr, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtReserveMemAddress(&range, page_, 3, nullptr, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtReserveMemAddress(&range, size_t{1} << 60, 0, nullptr, 0),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  aclrtDrvMemHandle memory = nullptr;
  EXPECT_EQ(aclrtMallocPhysical(nullptr, page_, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocPhysical(&memory, 0, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtUnmapMem(nullptr), ACL_ERROR_RT_PARAM_INVALID);
}

// What every other call refuses, each by its name.
TEST_F(MemoryTest, CallsNameThemselvesInTheirErrors) {
  aclrtStream none = nullptr;
  void* stale = &none;
  float ms = 0;
  struct Refusal {
    const char* call;
    std::function<aclError()> run;
  };
  const Refusal refusals[] = {
      {"aclrtDestroyStream", [&] { return aclrtDestroyStream(nullptr); }},
      {"aclrtSynchronizeStream", [&] { return aclrtSynchronizeStream(stale); }},
      {"aclrtSynchronizeStreamWithTimeout",
       [&] { return aclrtSynchronizeStreamWithTimeout(stream_, 0); }},
      {"aclrtStreamQuery", [&] { return aclrtStreamQuery(stream_, nullptr); }},
      {"aclrtLaunchHostFunc", [&] { return aclrtLaunchHostFunc(stream_, nullptr, nullptr); }},
      {"aclrtCreateStream", [&] { return aclrtCreateStream(nullptr); }},
      {"aclrtCreateEvent", [&] { return aclrtCreateEvent(nullptr); }},
      {"aclrtRecordEvent", [&] { return aclrtRecordEvent(stale, stream_); }},
      {"aclrtEventElapsedTime", [&] { return aclrtEventElapsedTime(&ms, stale, stale); }},
      {"aclrtCreateNotify", [&] { return aclrtCreateNotify(nullptr, 0); }},
      {"aclrtRecordNotify", [&] { return aclrtRecordNotify(stale, stream_); }},
      {"aclrtWaitAndResetNotify", [&] { return aclrtWaitAndResetNotify(stale, stream_, 1); }},
      {"aclrtMallocHost", [&] { return aclrtMallocHost(nullptr, 8); }},
      {"aclrtFreeHost", [&] { return aclrtFreeHost(nullptr); }},
      {"aclrtGetMemInfo", [&] { return aclrtGetMemInfo(ACL_HBM_MEM, nullptr, nullptr); }},
      {"aclrtGetDevice", [&] { return aclrtGetDevice(nullptr); }},
      {"aclrtCreateContext", [&] { return aclrtCreateContext(nullptr, 0); }},
      {"aclrtDestroyContext", [&] { return aclrtDestroyContext(stale); }},
      {"aclrtSetCurrentContext", [&] { return aclrtSetCurrentContext(stale); }},
      {"aclrtCmoAsync",
       [&] { return aclrtCmoAsync(stale, 8, static_cast<aclrtCmoType>(9), stream_); }},
      {"aclmdlRICaptureEnd", [&] { return aclmdlRICaptureEnd(stream_, nullptr); }},
      {"aclmdlRIExecuteAsync", [&] { return aclmdlRIExecuteAsync(stale, stream_); }},
      {"aclmdlRIDestroy", [&] { return aclmdlRIDestroy(stale); }},
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_NE(refusal.run(), ACL_SUCCESS) << refusal.call;
    EXPECT_THAT(last_error(), testing::StartsWith(std::string(refusal.call) + ":"));
  }
  aclrtStreamStatus status;
  EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
}

}  // namespace
}  // namespace symm::test
