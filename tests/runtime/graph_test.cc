// Graph capture: recording, replay, refusals.
#include <thread>
#include <vector>

#include "tests/runtime/kernel.h"

namespace symm::test {
namespace {

using testing::HasSubstr;

class GraphTest : public RuntimeTest {
 protected:
  void begin(aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
    ASSERT_EQ(aclmdlRICaptureBegin(stream_, mode), ACL_SUCCESS) << last_error();
  }
  aclmdlRI end() {
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS) << last_error();
    return model;
  }
};

TEST_F(GraphTest, ReplaysFrozenArgumentsOnCurrentMemory) {
  int input = 0;
  int output = 0;
  int copy = 0;
  int factor = 3;
  begin();
  ASSERT_EQ(launch(1, stream_, [&input, &output, factor](symm_core&) { output = input * factor; }),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(&copy, 4, &output, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
            ACL_SUCCESS);
  factor = 100;
  aclmdlRI model = end();
  EXPECT_EQ(output, 0) << "nothing runs while recording";
  for (int round = 1; round <= 50; ++round) {
    input = round;
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(copy, 3 * round);
  }
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(GraphTest, ReplaysKeepTheOrderWithOtherWork) {
  std::vector<int> log;
  begin();
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { log.push_back(1); }), ACL_SUCCESS);
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { log.push_back(2); }), ACL_SUCCESS);
  aclmdlRI model = end();
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { log.push_back(3); }), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(log, (std::vector<int>{1, 2, 3, 1, 2}));
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(GraphTest, HostTasksNotifiesAndFillsAreRecorded) {
  static int calls;
  calls = 0;
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  int word = -1;
  begin();
  ASSERT_EQ(symm_rt_host_task(
                stream_,
                [](void*) -> int {
                  ++calls;
                  return 0;
                },
                nullptr, nullptr, "count"),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(notify, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, 5), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(&word, 4, 0, 4, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_, [](void*) { ++calls; }, nullptr),
            ACL_SUCCESS);
  aclmdlRI model = end();
  EXPECT_EQ(calls, 0);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << last_error();
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(word, 0);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(GraphTest, OtherStreamsJoinByEvents) {
  aclrtStream other = nullptr;
  aclrtEvent fork = nullptr;
  aclrtEvent join = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&fork), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&join), ACL_SUCCESS);
  std::vector<int> log;
  begin();
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { log.push_back(1); }), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(fork, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, fork), ACL_SUCCESS);
  ASSERT_EQ(launch(1, other, [&](symm_core&) { log.push_back(2); }), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_ERROR_RT_STREAM_CAPTURED);
  EXPECT_EQ(aclrtSynchronizeEvent(fork), ACL_ERROR_RT_EVENT_CAPTURED);
  aclmdlRI model = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(other, &model), ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED);
  ASSERT_EQ(aclrtRecordEvent(join, other), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, join), ACL_SUCCESS);
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { log.push_back(3); }), ACL_SUCCESS);
  model = end();
  ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS) << "the capture is over for both";
  ASSERT_EQ(aclmdlRIExecuteAsync(model, other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(log, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(fork), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(join), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(GraphTest, UnjoinedStreamIsNamed) {
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  begin();
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  ASSERT_EQ(launch(1, other, [](symm_core&) {}), ACL_SUCCESS);
  aclmdlRI model = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_ERROR_RT_STREAM_UNJOINED);
  EXPECT_THAT(last_error(), HasSubstr("stream"));
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(GraphTest, RefusalsWhileCapturing) {
  begin();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_CAPTURED);
  EXPECT_THAT(last_error(), HasSubstr("aclrtSynchronizeStream"));
  aclrtStreamStatus status;
  EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_ERROR_RT_STREAM_CAPTURED);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_STREAM_CAPTURED);
  EXPECT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
            ACL_ERROR_RT_STREAM_CAPTURED);
  aclmdlRICaptureStatus info = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, &info, &model), ACL_SUCCESS);
  EXPECT_EQ(info, ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(aclmdlRIExecuteAsync(model, nullptr), ACL_ERROR_RT_MODEL_CAPTURED);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_ERROR_RT_MODEL_CAPTURED);
  aclmdlRI same = end();
  EXPECT_EQ(same, model);
  ASSERT_EQ(aclmdlRICaptureGetInfo(stream_, &info, &model), ACL_SUCCESS);
  EXPECT_EQ(info, ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(aclmdlRIDestroy(same), ACL_SUCCESS);
}

TEST_F(GraphTest, RefusalsOfBeginAndEnd) {
  aclmdlRI model = nullptr;
  EXPECT_EQ(aclmdlRICaptureBegin(nullptr, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
            ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(aclmdlRICaptureBegin(stream_, static_cast<aclmdlRICaptureMode>(3)),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
  begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  std::thread([&] {
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  EXPECT_EQ(aclmdlRIDestroy(end()), ACL_SUCCESS);
  begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  std::thread([&] { EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS); }).join();
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(GraphTest, ModesForbidSynchronousCopies) {
  int from = 1;
  int to = 0;
  auto copy = [&] { return aclrtMemcpy(&to, 4, &from, 4, ACL_MEMCPY_DEFAULT); };
  auto copy_elsewhere = [&] {
    aclError code = 0;
    std::thread([&] { code = copy(); }).join();
    return code;
  };
  begin(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(copy(), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
  EXPECT_THAT(last_error(), HasSubstr("RELAXED"));
  EXPECT_EQ(copy_elsewhere(), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
  EXPECT_EQ(aclmdlRIDestroy(end()), ACL_SUCCESS);
  begin(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(aclrtMemset(&to, 4, 0, 4), ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
  EXPECT_EQ(copy_elsewhere(), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(end()), ACL_SUCCESS);
  begin(ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(copy(), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(end()), ACL_SUCCESS);
  EXPECT_EQ(copy(), ACL_SUCCESS);
}

TEST_F(GraphTest, RunningGraphIsNotDestroyed) {
  std::atomic<uint64_t> gate{0};
  begin();
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { WordWait(gate, 1)(); }), ACL_SUCCESS);
  aclmdlRI model = end();
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_ERROR_RT_MODEL_RUNNING);
  gate.store(1, std::memory_order_release);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(GraphTest, FailedTaskEndsTheReplayAndIsNamed) {
  bool after = false;
  begin();
  ASSERT_EQ(launch(1, stream_, [](symm_core&) {}), ACL_SUCCESS);
  ASSERT_EQ(launch(1, stream_, [](symm_core&) { symm_rt_trap("wrong tile"); }), ACL_SUCCESS);
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { after = true; }), ACL_SUCCESS);
  aclmdlRI model = end();
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_THAT(last_error(), HasSubstr("task 2 of 3"));
  EXPECT_THAT(last_error(), HasSubstr("wrong tile"));
  EXPECT_FALSE(after);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

void* device_memory(size_t bytes) {
  void* memory = nullptr;
  EXPECT_EQ(aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  return memory;
}

// A graph that copies within its own piece of memory.
TEST_F(GraphTest, FaultM4_FreedMemoryMakesTheGraphUnusable) {
  auto* used = static_cast<char*>(device_memory(64));
  auto* unused = device_memory(64);
  begin();
  ASSERT_EQ(aclrtMemcpyAsync(used, 8, used + 8, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(used), ACL_ERROR_RT_MODEL_CAPTURED) << "while it is being recorded";
  EXPECT_THAT(last_error(), HasSubstr("task 1 of 1 (copy of 8 bytes)"));
  EXPECT_EQ(aclrtFree(unused), ACL_SUCCESS);
  aclmdlRI model = end();
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(used), ACL_SUCCESS) << "an idle graph holds nothing back";
  EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  EXPECT_THAT(last_error(), HasSubstr("copy of 8 bytes"));
  EXPECT_THAT(last_error(), HasSubstr("aclrtFree has given back"));
  auto* again = device_memory(64);  // most likely at the same address
  EXPECT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(aclrtFree(again), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(GraphTest, FaultM4_MemoryOfAQueuedReplayIsNotFreed) {
  std::atomic<uint64_t> gate{0};
  void* used = nullptr;
  ASSERT_EQ(aclrtMallocHost(&used, 64), ACL_SUCCESS);
  begin();
  ASSERT_EQ(launch(1, stream_, [&](symm_core&) { WordWait(gate, 1)(); }), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(used, 64, 1, 64, stream_), ACL_SUCCESS);
  aclmdlRI model = end();
  ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(used), ACL_ERROR_RT_MODEL_RUNNING);
  EXPECT_THAT(last_error(), HasSubstr("task 2 of 2 (fill of 64 bytes)"));
  gate.store(1, std::memory_order_release);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(used), ACL_SUCCESS);
}

TEST_F(GraphTest, DestroyedStreamInvalidatesTheCapture) {
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  begin();
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  EXPECT_EQ(launch(1, stream_, [](symm_core&) {}), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  aclmdlRI model = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

}  // namespace
}  // namespace symm::test
