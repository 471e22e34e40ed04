#include <cstdio>
#include <cstdlib>

#include "job.h"

namespace conformance {
namespace {

Place g_place;

class Job : public testing::Environment {
 public:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), 0);
    ASSERT_EQ(aclrtSetDevice(0), 0);
    if (!starts_initialized()) return;
    aclshmemx_init_attr_t attributes = conformance::attributes();
    ASSERT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes), 0);
  }

  void TearDown() override {
    if (starts_initialized()) {
      EXPECT_EQ(aclshmem_finalize(), 0);
    }
    EXPECT_EQ(aclrtResetDevice(0), 0);
    EXPECT_EQ(aclFinalize(), 0);
  }
};

}  // namespace

const Place& place() { return g_place; }

aclshmemx_init_attr_t attributes() {
  aclshmemx_init_attr_t attributes;
  attributes.my_pe = g_place.pe;
  attributes.n_pes = g_place.n_pes;
  attributes.local_mem_size = kHeapBytes;
  std::snprintf(attributes.ip_port, sizeof(attributes.ip_port), "%s", g_place.address);
  return attributes;
}

}  // namespace conformance

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s n_pes pe address\n", argv[0]);
    return 2;
  }
  conformance::g_place = {std::atoi(argv[1]), std::atoi(argv[2]), argv[3]};
  testing::AddGlobalTestEnvironment(new conformance::Job);
  return RUN_ALL_TESTS();
}
