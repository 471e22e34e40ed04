#include "os/memory_limit.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "os/call_site.h"

namespace symm::os {
namespace {

namespace fs = std::filesystem;

// A root with the files of a machine that we choose.
class MemoryLimit : public testing::Test {
 protected:
  MemoryLimit() {
    std::string name = testing::TempDir() + "limits-XXXXXX";
    root_ = ::mkdtemp(name.data());
    write("/proc/meminfo", "MemTotal:       1024 kB\nMemFree:         512 kB\n");
  }
  ~MemoryLimit() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  MemoryLimits limits() const { return memory_limits(root_); }
  std::string root_;
};

TEST_F(MemoryLimit, RamAloneWithoutGroups) {
  EXPECT_EQ(limits().ram, 1024u * 1024);
  EXPECT_EQ(limits().cgroup, MemoryLimits::kNone);
  EXPECT_NE(limits().text().find("RAM 1048576 bytes, cgroup no limit"), std::string::npos);
}

TEST_F(MemoryLimit, FaultC11_SmallestGroupOnTheWayUpCounts) {
  write("/proc/self/cgroup", "0::/outer/inner\n");
  write("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("/sys/fs/cgroup/outer/memory.max", "268435456\n");
  EXPECT_EQ(limits().cgroup, 268435456u);
  write("/sys/fs/cgroup/outer/inner/memory.max", "4096\n");
  EXPECT_EQ(limits().cgroup, 4096u);
  EXPECT_EQ(limits().smallest(), 4096u);
}

TEST_F(MemoryLimit, InsideAContainerOnlyTheTopIsSeen) {
  write("/proc/self/cgroup", "0::/../../somewhere\n");
  write("/sys/fs/cgroup/memory.max", "8192\n");
  EXPECT_EQ(limits().cgroup, 8192u);
}

TEST_F(MemoryLimit, FirstVersionOfGroups) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/job\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "65536\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limits().cgroup, 65536u);
}

TEST(CallSite, NamesTheFileAndAnOffset) {
  const std::string here = call_site(__builtin_return_address(0));
  EXPECT_NE(here.find("+0x"), std::string::npos) << here;
  EXPECT_EQ(call_site(nullptr), "an unknown place");
}

}  // namespace
}  // namespace symm::os
