// Life cycle: states, refusals, information, repeated init on one address.
#include <cstring>
#include <string>

#include "job.h"

namespace conformance {

bool starts_initialized() { return false; }

namespace {

// The attributes of a job of one PE; refusals are found before anything is opened, so no peer takes
// part.
aclshmemx_init_attr_t single() {
  aclshmemx_init_attr_t attributes = conformance::attributes();
  attributes.my_pe = 0;
  attributes.n_pes = 1;
  return attributes;
}

int try_init(aclshmemx_init_attr_t attributes) {
  const int code = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes);
  EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
  return code;
}

TEST(Before, NothingIsThere) {
  EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(aclshmem_my_pe(), -1);
  EXPECT_EQ(aclshmem_n_pes(), -1);
  EXPECT_EQ(aclshmem_malloc(64), nullptr);
  EXPECT_EQ(aclshmem_calloc(4, 16), nullptr);
  EXPECT_EQ(aclshmem_align(64, 64), nullptr);
  int local = 0;
  EXPECT_EQ(aclshmem_ptr(&local, 0), nullptr);
  aclshmem_free(nullptr);
  EXPECT_EQ(aclshmem_finalize(), 0);
}

TEST(Information, VersionAndName) {
  int major = 0;
  int minor = 0;
  aclshmem_info_get_version(&major, &minor);
  EXPECT_EQ(major, 1);
  EXPECT_EQ(minor, 1);
  aclshmem_info_get_version(nullptr, &minor);
  aclshmem_info_get_version(&major, nullptr);
  char name[ACLSHMEM_MAX_NAME_LEN];
  aclshmem_info_get_name(name);
  EXPECT_STREQ(name, "ACLSHMEM v1.1.1");
  aclshmem_info_get_name(nullptr);
}

TEST(Refused, NullAttributes) {
  EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, nullptr), ACLSHMEM_INVALID_PARAM);
}

TEST(Refused, PeNumbers) {
  aclshmemx_init_attr_t bad = single();
  bad.my_pe = -1;
  EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_VALUE);
  bad = single();
  bad.n_pes = 0;
  EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_VALUE);
  bad = single();
  bad.n_pes = ACLSHMEM_MAX_PES + 1;
  EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_VALUE);
  bad = single();
  bad.my_pe = 1;
  EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_PARAM);
}

TEST(Refused, Sizes) {
  aclshmemx_init_attr_t bad = single();
  bad.local_mem_size = 0;
  EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_VALUE);
  bad = single();
  bad.local_mem_size = ACLSHMEM_MAX_LOCAL_SIZE + 1;
  EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_VALUE);
}

TEST(Refused, TimeLimitsAndEngines) {
  aclshmemx_init_attr_t bad = single();
  bad.option_attr.shm_init_timeout = 0;
  EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_VALUE);
  bad = single();
  bad.option_attr.control_operation_timeout = 0;
  EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_VALUE);
  bad = single();
  bad.option_attr.data_op_engine_type = static_cast<data_op_engine_type_t>(0);
  EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_VALUE);
  bad = single();
  const int unknown_engine = 0x10;
  std::memcpy(&bad.option_attr.data_op_engine_type, &unknown_engine, sizeof(unknown_engine));
  EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_VALUE);
}

TEST(Refused, Addresses) {
  for (const char* text : {"", "nonsense", "tcp://127.0.0.1", "tcp://127.0.0.1:1024",
                           "tcp://127.0.0.1:65536", "tcp://127.0.0.1:12x"}) {
    aclshmemx_init_attr_t bad = single();
    std::snprintf(bad.ip_port, sizeof(bad.ip_port), "%s", text);
    EXPECT_EQ(try_init(bad), ACLSHMEM_INVALID_PARAM) << text;
  }
}

TEST(Cycle, ThreeTimesOnTheSameAddress) {
  for (int round = 0; round < 3; ++round) {
    aclshmemx_init_attr_t attributes = conformance::attributes();
    ASSERT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes), 0);
    EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
    EXPECT_EQ(aclshmem_my_pe(), place().pe);
    EXPECT_EQ(aclshmem_n_pes(), place().n_pes);
    ASSERT_EQ(aclshmem_finalize(), 0);
    EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
    EXPECT_EQ(aclshmem_my_pe(), -1);
  }
}

TEST(Cycle, SecondInitIsRefusedAndHurtsNothing) {
  aclshmemx_init_attr_t attributes = conformance::attributes();
  ASSERT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes), 0);
  void* memory = aclshmem_malloc(64);
  EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes), ACLSHMEM_INNER_ERROR);
  EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
  EXPECT_NE(aclshmem_ptr(memory, place().pe), nullptr);
  aclshmem_barrier_all();
  aclshmem_free(memory);
  ASSERT_EQ(aclshmem_finalize(), 0);
  EXPECT_EQ(aclshmem_finalize(), 0);
}

}  // namespace
}  // namespace conformance
