// PEs as threads of one process: starts, ends, losses and wrong attributes.
#include <cstring>

#include "os/wait.h"
#include "tests/multi_pe/thread_pes.h"

namespace symm::test {
namespace {

// Blocks until the counter has reached the value.
void wait_for_count(std::atomic<int>& counter, int value) {
  struct Wanted {
    std::atomic<int>* counter;
    int value;
  } wanted{&counter, value};
  symm_wait wait{[](void* argument) {
                   const auto& what = *static_cast<const Wanted*>(argument);
                   return what.counter->load() >= what.value ? 1 : 0;
                 },
                 &wanted,
                 nullptr,
                 "wait_for_count",
                 20000,
                 -1,
                 -1,
                 nullptr,
                 value,
                 -1,
                 0};
  Status status = os::wait(wait);
  ASSERT_TRUE(status.ok()) << status.to_string();
}

TEST(ThreadJob, LifeCyclesLeaveNothing) {
  for (int round = 0; round < 20; ++round) {
    run_threads(2, [](Instance&) {
      void* block = aclshmem_malloc(1000);
      EXPECT_NE(block, nullptr);
    });
  }
}

TEST(ThreadJob, DifferentAttributesFailOnAllPes) {
  auto outcomes = run_threads(
      3, [](Instance&) { FAIL() << "init should not succeed"; }, false,
      [](InstanceOptions& options) {
        if (options.pe == 2) options.heap_bytes = 8 << 20;
      });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.open.code(), Code::kInternal);
    EXPECT_NE(outcome.open.text().find("local_mem_size: PEs 0-1: 4194304, PE 2: 8388608"),
              std::string::npos)
        << outcome.open.text();
  }
}

// A PE dies while the others wait: every kind of wait ends with an error that names it.
TEST(ThreadJob, WaitsEndWhenAPeerIsLost) {
  const std::string address = fresh_address();
  std::atomic<int> waiting{0};
  run_threads(
      3,
      [&](Instance& instance) {
        auto* word = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));
        waiting.fetch_add(1);
        if (instance.pe() == 2) {
          wait_for_count(waiting, 3);
          ASSERT_TRUE(bootstrap::mem_store_lose_peer(address, 2));
          instance.health().lose(Code::kPeerLost, 2, "PE 2 is lost: so says the test");
          return;
        }
        if (instance.pe() == 0) {
          aclshmem_barrier_all();
        } else {
          aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, 1);
        }
        char text[512];
        EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), false), ACLSHMEM_PEER_LOST);
        EXPECT_NE(std::string(text).find("PE 2"), std::string::npos) << text;
        // Later waits fail at once.
        aclshmem_barrier_all();
        EXPECT_EQ(aclshmem_malloc(8), nullptr);
      },
      false, {}, address);
}

TEST(ThreadJob, ABarrierNobodyElseEntersNamesTheMissing) {
  std::atomic<int> done{0};
  run_threads(3, [&](Instance& instance) {
    if (instance.pe() == 0) {
      instance.wait_domain()->timeout_ms = 50;
      aclshmem_barrier_all();
      char text[512];
      EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_TIMEOUT_ERROR);
      EXPECT_NE(std::string(text).find("missing: PE 1 (not in a collective call; last in barrier"),
                std::string::npos)
          << text;
      done.store(1);
    } else {
      wait_for_count(done, 1);
    }
  });
}

// A PE leaves without finalize while another waits for it.
TEST(ThreadJob, ABarrierEndsWhenAMemberLeaves) {
  std::atomic<int> done{0};
  run_threads(
      3,
      [&](Instance& instance) {
        if (instance.pe() == 1) {
          instance.leave_at_exit();
          wait_for_count(done, 2);
          return;
        }
        aclshmem_barrier_all();
        char text[512];
        EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_PEER_LOST);
        EXPECT_NE(std::string(text).find("PE 1 ended without taking part"), std::string::npos)
            << text;
        done.fetch_add(1);
        wait_for_count(done, 2);
      },
      false);
}

TEST(ThreadJob, CallsWithoutAnInstanceAreErrors) {
  EXPECT_EQ(aclshmem_malloc(8), nullptr);
  aclshmem_free(nullptr);
  EXPECT_EQ(aclshmemx_get_heap_base(), nullptr);
  char byte = 0;
  EXPECT_EQ(aclshmem_ptr(&byte, 0), nullptr);
  EXPECT_EQ(aclshmem_finalize(), 0);
  EXPECT_EQ(aclshmemx_finalize(17), ACLSHMEM_INNER_ERROR);
  EXPECT_EQ(aclshmemx_instance_ctx_set(17), ACLSHMEM_INNER_ERROR);
  EXPECT_NE(aclshmemx_instance_ctx_get(), nullptr);
  EXPECT_EQ(aclshmemx_instance_ctx_get()->id, 0u);
  EXPECT_EQ(aclshmemi_control_barrier_all(), ACLSHMEM_NOT_INITED);
  EXPECT_EQ(g_state.mype, -1);
  EXPECT_EQ(g_state.heap_size, SIZE_MAX);
  int major = 0;
  int minor = 0;
  aclshmem_info_get_version(&major, &minor);
  EXPECT_EQ(major * 10 + minor, 11);
  char name[256];
  aclshmem_info_get_name(name);
  EXPECT_STREQ(name, "ACLSHMEM v1.1.1");
  aclshmem_info_get_name(nullptr);
  aclshmem_info_get_version(nullptr, &minor);
}

TEST(ThreadJob, AttributesAreChecked) {
  auto with = [](auto change) {
    aclshmemx_init_attr_t attributes;
    attributes.my_pe = 0;
    attributes.n_pes = 2;
    attributes.local_mem_size = 4 << 20;
    std::strcpy(attributes.ip_port, "tcp://127.0.0.1:8666");
    change(attributes);
    return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes);
  };
  EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, nullptr), -1);
  EXPECT_EQ(with([](auto& a) { a.my_pe = -1; }), -2);
  EXPECT_EQ(with([](auto& a) { a.n_pes = 0; }), -2);
  EXPECT_EQ(with([](auto& a) { a.n_pes = 16385; }), -2);
  EXPECT_EQ(with([](auto& a) { a.my_pe = 2; }), -1);
  EXPECT_EQ(with([](auto& a) { a.local_mem_size = 0; }), -2);
  EXPECT_EQ(with([](auto& a) { a.local_mem_size = (40ULL << 30) + 1; }), -2);
  EXPECT_EQ(with([](auto& a) { a.option_attr.shm_init_timeout = 0; }), -2);
  EXPECT_EQ(with([](auto& a) { a.option_attr.control_operation_timeout = 0; }), -2);
  EXPECT_EQ(with([](auto& a) {
              a.option_attr.data_op_engine_type = static_cast<data_op_engine_type_t>(0x10);
            }),
            -2);
  EXPECT_EQ(with([](auto& a) { a.local_mem_size = (4 << 20) + 1; }), -1);
  EXPECT_EQ(with([](auto& a) { a.ip_port[0] = 'x'; }), -1);
  aclshmemx_init_attr_t attributes{0, 1, {}, 4 << 20};
  EXPECT_EQ(aclshmemx_init_attr(static_cast<aclshmemx_bootstrap_t>(4), &attributes), -1);
  EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attributes), -1);
  EXPECT_EQ(aclshmemx_init_status(), 0);
}

}  // namespace
}  // namespace symm::test
