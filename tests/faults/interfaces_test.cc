// Which address a unique id gets: network namespaces with the interfaces of the case.
#include <sched.h>

#include "tests/faults/support.h"

namespace symm::test {
namespace {

void make_network(const std::string& commands) {
  CHECK_IN_CHILD(::unshare(CLONE_NEWNET) == 0);
  CHECK_IN_CHILD(std::system(("set -e\nip link set lo up\n" + commands).c_str()) == 0);
}

// Runs it in a process of its own, which leaves the network of the test.
void in_network(const std::string& commands, const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    make_network(commands);
    catch_messages();
    body();
    std::_Exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
}

constexpr char kOnlyIpv6[] =
    "ip link add eth0 type veth peer name veth1\n"
    "ip -6 addr add fd00::5/64 dev eth0 nodad\n"
    "ip link set eth0 up\n"
    "ip link set veth1 up\n";

int run_pe(int pe, const aclshmemx_uniqueid_t* id) {
  aclshmemx_uniqueid_t mine = *id;
  aclshmemx_init_attr_t attributes{};
  CHECK_IN_CHILD(aclshmemx_set_attr_uniqueid_args(pe, 2, 4 << 20, &mine, &attributes) == 0);
  CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0);
  CHECK_IN_CHILD(aclshmem_n_pes() == 2);
  CHECK_IN_CHILD(aclshmem_finalize() == 0);
  return 0;
}

// The PEs are forked after the id was made, so that both have the socket of the id.
TEST(Interfaces, FaultA1_ANetworkOfIpv6OnlyWorks) {
  in_network(kOnlyIpv6, [] {
    aclshmemx_uniqueid_t id = ACLSHMEM_UNIQUEID_INITIALIZER;
    CHECK_IN_CHILD(aclshmemx_get_uniqueid(&id) == 0);
    EXPECT_SAID("address fd00::5 of interface eth0");
    const pid_t one = ::fork();
    if (one == 0) std::_Exit(run_pe(1, &id));
    run_pe(0, &id);
    int status = -1;
    CHECK_IN_CHILD(::waitpid(one, &status, 0) == one && status == 0);
  });
}

TEST(Interfaces, FaultA1_AnInterfaceThatIsNotThereIsNamedWithThoseThatAre) {
  in_network(kOnlyIpv6, [] {
    ::setenv("SHMEM_UID_SOCK_IFNAME", "eth9", 1);
    aclshmemx_uniqueid_t id = ACLSHMEM_UNIQUEID_INITIALIZER;
    CHECK_IN_CHILD(aclshmemx_get_uniqueid(&id) != 0);
    EXPECT_SAID("fits SHMEM_UID_SOCK_IFNAME");
    EXPECT_SAID("eth0 fd00::5 (not selected)");
  });
}

TEST(Interfaces, FaultA7_VirtualAndDownInterfacesAreNotChosen) {
  in_network(
      "ip link add docker0 type veth peer name veth1\n"
      "ip addr add 172.17.0.1/16 dev docker0\n"
      "ip link set docker0 up\n"
      "ip link set veth1 up\n"
      "ip link add eth0 type veth peer name veth2\n"
      "ip addr add 10.9.9.9/24 dev eth0\n"
      "ip link add eth1 type veth peer name veth3\n"
      "ip addr add 192.168.77.5/24 dev eth1\n"
      "ip link set eth1 up\n"
      "ip link set veth3 up\n",
      [] {
        aclshmemx_uniqueid_t id = ACLSHMEM_UNIQUEID_INITIALIZER;
        CHECK_IN_CHILD(aclshmemx_get_uniqueid(&id) == 0);
        EXPECT_SAID("address 192.168.77.5 of interface eth1");
      });
}

}  // namespace
}  // namespace symm::test
