// Devices, memory, streams, events, notifies.
#include <cstring>
#include <thread>
#include <vector>

#include "tests/runtime/kernel.h"

namespace symm::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class StreamTest : public RuntimeTest {
 protected:
  // A kernel that holds the stream until release() is called.
  void block_stream(aclrtStream stream) {
    ASSERT_EQ(launch(1, stream, [this](symm_core&) { WordWait(gate_, 1)(); }), ACL_SUCCESS);
  }
  void release() { gate_.store(1, std::memory_order_release); }
  std::atomic<uint64_t> gate_{0};
};

TEST_F(StreamTest, TasksOfAllKindsRunInOrder) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  auto* words = static_cast<int*>(memory);
  struct Seen {
    int* words;
    int value;
  } seen{words, 0};
  block_stream(stream_);
  ASSERT_EQ(aclrtMemsetAsync(memory, 64, 0x11, 64, stream_), ACL_SUCCESS);
  ASSERT_EQ(launch(1, stream_, [words](symm_core&) { words[0] += 1; }), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(words + 1, 4, words, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtCmoAsync(memory, 64, ACL_RT_CMO_TYPE_PREFETCH, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_,
                [](void* argument) {
                  auto* s = static_cast<Seen*>(argument);
                  s->value = s->words[1];
                },
                &seen),
            ACL_SUCCESS);
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  ASSERT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
  release();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(seen.value, 0x11111112);
  ASSERT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

TEST_F(StreamTest, BlockedStreamDoesNotHoldOthers) {
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  block_stream(stream_);
  bool ran = false;
  ASSERT_EQ(launch(2, other,
                   [&](symm_core& core) {
                     if (core.block == 0) ran = true;
                   }),
            ACL_SUCCESS);
  bool ran_default = false;
  ASSERT_EQ(launch(1, nullptr, [&](symm_core&) { ran_default = true; }), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(ran);
  EXPECT_TRUE(ran_default);
  release();
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(StreamTest, SynchronizeWithTimeoutLeavesTheWorkRunning) {
  block_stream(stream_);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_THAT(last_error(), HasSubstr("aclrtSynchronizeStreamWithTimeout"));
  release();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, -1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), ACL_ERROR_INVALID_PARAM);
}

TEST_F(StreamTest, DestroyRunsWhatIsQueued) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  std::atomic<int> runs{0};
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(launch(2, stream, [&](symm_core&) { ++runs; }), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(runs, 20);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtDestroyStream(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(StreamTest, HostTaskReportsItsErrorAndIsDropped) {
  static std::atomic<int> drops{0};
  drops = 0;
  auto drop = [](void*) { ++drops; };
  auto good = [](void*) -> int { return 0; };
  auto bad = [](void*) -> int {
    symm_rt_set_error("put to PE 9 of 4");
    return 500000;
  };
  ASSERT_EQ(symm_rt_host_task(stream_, good, drop, nullptr, "good"), ACL_SUCCESS);
  ASSERT_EQ(symm_rt_host_task(stream_, bad, drop, nullptr, "bad_task"), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 500000);
  EXPECT_THAT(last_error(), HasSubstr("put to PE 9 of 4"));
  EXPECT_EQ(drops, 2);
  int nothing = 0;
  EXPECT_NE(symm_rt_host_task(&nothing, good, drop, nullptr, "lost"), ACL_SUCCESS);
  EXPECT_EQ(drops, 3);
}

TEST_F(StreamTest, WaitingForOwnStreamOnItsThreadIsRefused) {
  struct Result {
    aclrtStream stream;
    aclError code;
  } result{stream_, 0};
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_,
                [](void* argument) {
                  auto* r = static_cast<Result*>(argument);
                  r->code = aclrtSynchronizeStream(r->stream);
                },
                &result),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_NE(result.code, ACL_SUCCESS);
}

TEST_F(StreamTest, PageableCopiesCompleteBeforeReturn) {
  void* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  for (int round = 0; round < 20; ++round) {
    std::vector<char> host(4096, static_cast<char>(round));
    ASSERT_EQ(aclrtMemcpyAsync(device, 4096, host.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
              ACL_SUCCESS);
    host.assign(4096, 99);
    std::vector<char> back(4096);
    ASSERT_EQ(aclrtMemcpyAsync(back.data(), 4096, device, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_),
              ACL_SUCCESS);
    EXPECT_EQ(back[4095], static_cast<char>(round));
  }
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(StreamTest, PinnedCopyIsAsynchronous) {
  void* device = nullptr;
  void* host = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&host, 64), ACL_SUCCESS);
  std::memset(host, 7, 64);
  block_stream(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            ACL_SUCCESS);
  release();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(static_cast<char*>(device)[63], 7);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
}

TEST_F(StreamTest, MemoryChecksAndCounts) {
  size_t free_before = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total), ACL_SUCCESS);
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 33, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
  size_t free_after = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_after, &total), ACL_SUCCESS);
  EXPECT_EQ(free_before - free_after, 64u);
  EXPECT_EQ(aclrtFreeHost(memory), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_THAT(last_error(), HasSubstr("aclrtFree"));
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(&memory, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMalloc(nullptr, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(&memory, total + 1, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_THAT(last_error(), HasSubstr("SHMEM_DEVICE_MEMORY"));
}

TEST_F(StreamTest, CopyChecks) {
  char from[16] = "abc";
  char to[16] = {};
  EXPECT_EQ(aclrtMemcpy(to, 16, from, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_STREQ(to, "abc");
  EXPECT_EQ(aclrtMemcpy(to, 3, from, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_INVALID_PARAM);
  EXPECT_THAT(last_error(), StartsWith("aclrtMemcpy: 4 bytes"));
  EXPECT_EQ(aclrtMemcpy(nullptr, 3, from, 1, ACL_MEMCPY_DEFAULT), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(to, 16, 0x41, 15), ACL_SUCCESS);
  EXPECT_STREQ(to, "AAAAAAAAAAAAAAA");
  EXPECT_EQ(aclrtMemset(to, 3, 0, 4), ACL_ERROR_INVALID_PARAM);
}

TEST_F(StreamTest, EventsOrderStreams) {
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  int value = 0;
  int seen = -1;
  block_stream(stream_);
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { value = 5; }), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  ASSERT_EQ(launch(1, other, [&](symm_core&) { seen = value; }), ACL_SUCCESS);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  ASSERT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, 5), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  release();
  ASSERT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(value, 5);
  ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(seen, 5);
  ASSERT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtResetEvent(event, other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(StreamTest, ElapsedTimeIsNotNegative) {
  aclrtEvent first = nullptr;
  aclrtEvent second = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&first), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&second), ACL_SUCCESS);
  float ms = -1;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, first, second), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  ASSERT_EQ(aclrtRecordEvent(first, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(second, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventElapsedTime(&ms, first, second), ACL_SUCCESS);
  EXPECT_GE(ms, 0.0F);
  EXPECT_EQ(aclrtDestroyEvent(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(second), ACL_SUCCESS);
}

TEST_F(StreamTest, NotifyIsWaitedForAndReset) {
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  uint32_t number = 0;
  EXPECT_EQ(aclrtGetNotifyId(notify, &number), ACL_SUCCESS);
  std::atomic<int> passed{0};
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, 0), ACL_SUCCESS);
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { ++passed; }), ACL_SUCCESS);
  // Recorded from a kernel on another stream.
  ASSERT_EQ(launch(1, nullptr,
                   [&](symm_core&) {
                     EXPECT_EQ(passed, 0);
                     EXPECT_EQ(symm_rt_notify_record(notify), ACL_SUCCESS);
                   }),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(passed, 1);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  // It was reset, so the next wait ends by its time limit.
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_THAT(last_error(), HasSubstr("notify"));
  ASSERT_EQ(aclrtRecordNotify(notify, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, 5), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  EXPECT_EQ(symm_rt_notify_record(notify), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(StreamTest, ThreadWithoutDeviceIsTold) {
  std::thread([] {
    aclrtStream stream = nullptr;
    void* memory = nullptr;
    int32_t device = 0;
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_THAT(last_error(), HasSubstr("aclrtSetDevice"));
    EXPECT_EQ(aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    ASSERT_EQ(aclrtSetDevice(3), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    EXPECT_EQ(device, 3);
    EXPECT_EQ(aclrtResetDevice(3), ACL_SUCCESS);
  }).join();
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 0);
}

TEST_F(StreamTest, DevicesAreCountedAndReferenced) {
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  EXPECT_GE(count, 16u);
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtSetDevice(static_cast<int32_t>(count)), ACL_ERROR_RT_INVALID_DEVICEID);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << "one reference is left";
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS) << "a reset too many changes nothing";
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(StreamTest, ContextsSwitchTheDevice) {
  aclrtContext own = nullptr;
  aclrtContext fresh = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&own), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&fresh, 2), ACL_SUCCESS);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 2);
  ASSERT_EQ(aclrtSetCurrentContext(own), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(aclrtDestroyContext(fresh), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(fresh), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(StreamTest, InitAndInformation) {
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_THAT(aclrtGetSocName(), StartsWith("Ascend"));
  int32_t major = 0;
  int32_t minor = 0;
  int32_t patch = 0;
  EXPECT_EQ(aclrtGetVersion(&major, &minor, &patch), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(-2, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(aclInit("some.json"), ACL_SUCCESS);
}

}  // namespace
}  // namespace symm::test
