// PEs that do not agree: every kind ends init on all PEs, with the values of all.
#include "tests/faults/support.h"

namespace symm::test {
namespace {

using Adjust = std::function<void(int pe, aclshmemx_init_attr_t& attributes)>;

// All PEs fail with a message that holds the text.
void expect_all_fail(int n_pes, const Adjust& adjust, const std::string& text,
                     uint32_t flags = ACLSHMEMX_INIT_WITH_DEFAULT) {
  ProcessJob job(n_pes, [&](int pe, const BoundPort& port) {
    catch_messages();
    auto attributes = process_attributes(port, pe, n_pes);
    adjust(pe, attributes);
    CHECK_IN_CHILD(aclshmemx_init_attr(static_cast<aclshmemx_bootstrap_t>(flags), &attributes) !=
                   0);
    EXPECT_SAID(text);
    CHECK_IN_CHILD(aclshmemx_init_status() == ACLSHMEM_STATUS_NOT_INITIALIZED);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    return 0;
  });
  job.expect_all_ok();
}

TEST(Agreement, FaultB5_HeapSizesDifferIsATableOnAllPes) {
  expect_all_fail(
      3, [](int pe, auto& a) { a.local_mem_size = pe == 1 ? 8 << 20 : 4 << 20; },
      "local_mem_size: PEs 0, 2: 4194304, PE 1: 8388608");
}

TEST(Agreement, FaultB5_EnginesDifferIsATableOnAllPes) {
  expect_all_fail(
      2,
      [](int pe, auto& a) {
        a.option_attr.data_op_engine_type = pe == 0 ? ACLSHMEM_DATA_OP_MTE : ACLSHMEM_DATA_OP_SDMA;
      },
      "data_op_engine_type: PE 0: 1, PE 1: 2");
}

TEST(Agreement, FaultB5_TlsOffOnOnePeIsATableOnAllPes) {
  expect_all_fail(
      3,
      [](int pe, auto&) { CHECK_IN_CHILD(aclshmemx_set_conf_store_tls(pe != 2, nullptr, 0) == 0); },
      "TLS differs: PEs 0-1: on, PE 2: off");
}

TEST(Agreement, FaultB5_TlsOffOnPe0IsATableOnAllPes) {
  expect_all_fail(
      3,
      [](int pe, auto&) { CHECK_IN_CHILD(aclshmemx_set_conf_store_tls(pe != 0, nullptr, 0) == 0); },
      "TLS differs: PE 0: off, PEs 1-2: on");
}

TEST(Agreement, FaultB5_ASizeThatOnePeCannotHaveEndsAll) {
  for (int bad : {0, 1, 2}) {
    expect_all_fail(
        3,
        [bad](int pe, auto& a) {
          if (pe == bad) a.local_mem_size = 0;
        },
        "local_mem_size is 0");
  }
}

TEST(Agreement, FaultB6_NPesDiffersIsATableOnAllPes) {
  expect_all_fail(
      3, [](int pe, auto& a) { a.n_pes = pe == 1 ? 4 : 3; }, "n_pes differs: PEs 0, 2: 3, PE 1: 4");
}

TEST(Agreement, FaultB6_APeOutOfRangeEndsAll) {
  expect_all_fail(
      3,
      [](int pe, auto& a) {
        if (pe == 2) a.my_pe = 3;
      },
      "my_pe 3 is not below n_pes 3");
}

TEST(Agreement, FaultB6_TwoProcessesWithOneNumberEndAll) {
  expect_all_fail(
      3,
      [](int pe, auto& a) {
        if (pe == 2) a.my_pe = 1;
      },
      "two processes claim PE 1");
}

TEST(Agreement, FaultA14_EachPeWithAnIdOfItsOwnIsNamed) {
  ProcessJob job(2, [](int pe, const BoundPort&) {
    catch_messages();
    aclshmemx_uniqueid_t id = ACLSHMEM_UNIQUEID_INITIALIZER;
    CHECK_IN_CHILD(aclshmemx_get_uniqueid(&id) == 0);
    if (pe == 0) return 0;  // it would wait for PE 1 until its launcher ends the job
    aclshmemx_init_attr_t attributes{};
    CHECK_IN_CHILD(aclshmemx_set_attr_uniqueid_args(pe, 2, 2 << 20, &id, &attributes) == 0);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0);
    EXPECT_SAID("id mismatch: the unique id of PE 1 was made in its own process");
    return 0;
  });
  job.expect_all_ok();
}

TEST(Agreement, FaultA4_BadTimeLimitsAreRefusedWithTheRange) {
  for (const char* value : {"99999999999", "10x"}) {
    ::setenv("SHMEM_WAIT_TIMEOUT", value, 1);
    expect_all_fail(
        2, [](int, auto&) {}, "SHMEM_WAIT_TIMEOUT");
    expect_all_fail(
        2, [](int, auto&) {}, "1000000");
  }
  ::unsetenv("SHMEM_WAIT_TIMEOUT");
}

TEST(Agreement, FaultA5_AMissingPe0IsNamedAfterTheLimitInSeconds) {
  const auto start = std::chrono::steady_clock::now();
  ProcessJob job(1, [](int, const BoundPort& port) {
    catch_messages();
    ::close(port.fd);
    auto attributes = process_attributes(port, 1, 2);
    attributes.option_attr.shm_init_timeout = 2;
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == -4);
    EXPECT_SAID("PE 1 cannot reach PE 0 at 127.0.0.1:" + std::to_string(port.port) + " within 2 s");
    return 0;
  });
  job.expect_all_ok();
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1900));
}

TEST(Agreement, FaultA6_ABusyPortIsNamedAndCallsAfterwardsAreErrors) {
  ProcessJob job(1, [](int, const BoundPort& port) {
    catch_messages();
    auto attributes = process_attributes(port, 0, 1);
    attributes.option_attr.sockFd = 0;  // the socket of the test holds the port
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == -4);
    EXPECT_SAID("port " + std::to_string(port.port) + " is held by another process");
    CHECK_IN_CHILD(aclshmem_malloc(64) == nullptr && aclshmem_my_pe() == -1);
    aclshmem_barrier_all();
    EXPECT_SAID("call aclshmemx_init_attr first");
    return 0;
  });
  job.expect_all_ok();
}

TEST(Agreement, FaultA9_EveryWayToWriteTheLoopbackWorks) {
  for (const char* host : {"tcp6://[::1]", "tcp://127.0.0.1", "tcp://localhost"}) {
    ProcessJob job(2, [&](int pe, const BoundPort& port) {
      auto attributes = process_attributes(port, pe, 2);
      attributes.option_attr.sockFd = 0;
      ::close(port.fd);
      std::snprintf(attributes.ip_port, sizeof(attributes.ip_port), "%s:%d", host, port.port);
      CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
      aclshmem_barrier_all();
      CHECK_IN_CHILD(aclshmem_finalize() == 0);
      return 0;
    });
    // The parent's own copy of the socket is closed by now.
    job.expect_all_ok();
  }
}

TEST(Agreement, FaultA10_ALauncherThatCannotBeUsedIsAnError) {
  for (const char* variable : {"SLURM_NTASKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE"}) {
    ProcessJob job(1, [&](int, const BoundPort&) {
      catch_messages();
      ::setenv(variable, "4", 1);
      CHECK_IN_CHILD(aclshmemx_init_attr(nullptr, 0, nullptr) == ACLSHMEM_BOOTSTRAP_ERROR);
      EXPECT_SAID(variable);
      return 0;
    });
    job.expect_all_ok();
  }
  ProcessJob alone(1, [](int, const BoundPort&) {
    CHECK_IN_CHILD(aclshmemx_init_attr(nullptr, 0, nullptr) == 0);
    CHECK_IN_CHILD(aclshmem_n_pes() == 1);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    return 0;
  });
  alone.expect_all_ok();
}

TEST(Agreement, FaultA12_InitAloneMakesAllReady) {
  ProcessJob job(2, [](int pe, const BoundPort& port) {
    CHECK_IN_CHILD(aclshmem_malloc(64) == nullptr);
    auto attributes = process_attributes(port, pe, 2);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    // The start of the heap is symmetric before anything is allocated.
    auto* word = static_cast<int32_t*>(aclshmemx_get_heap_base());
    if (pe == 0) {
      int32_t value = 42;
      aclshmem_putmem(word, &value, sizeof(value), 1);
    }
    if (pe == 1) aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, 42);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    return 0;
  });
  job.expect_all_ok();
}

}  // namespace
}  // namespace symm::test
