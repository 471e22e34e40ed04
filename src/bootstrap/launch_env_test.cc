#include "bootstrap/launch_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace symm::bootstrap {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Result<LaunchEnv> detect(const Variables& variables) {
  return detect_launch_env([&](const char* name) -> std::optional<std::string> {
    auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

struct Good {
  const char* name;
  Variables variables;
  LaunchKind kind;
  int pe;
  int n_pes;
  int local_pes;
  const char* address;
  const char* source;
};

const Good kGood[] = {
    {"Nothing", {}, LaunchKind::kNone, 0, 1, 0, "", "no launcher"},
    {"EmptyCountsAsUnset",
     {{"RANK", ""}, {"SLURM_NTASKS", ""}},
     LaunchKind::kNone,
     0,
     1,
     0,
     "",
     "no launcher"},
    {"Own",
     {{"SHMEM_PE", "2"},
      {"SHMEM_NPES", "4"},
      {"SHMEM_BOOTSTRAP", "tcp://h:9000"},
      {"SHMEM_LOCAL_PES", "3"}},
     LaunchKind::kOwn,
     2,
     4,
     3,
     "tcp://h:9000",
     "shmem-run"},
    {"OwnAlone",
     {{"SHMEM_PE", "0"}, {"SHMEM_NPES", "1"}},
     LaunchKind::kOwn,
     0,
     1,
     0,
     "",
     "shmem-run"},
    {"OwnWinsOverAll",
     {{"SHMEM_PE", "1"},
      {"SHMEM_NPES", "2"},
      {"SHMEM_BOOTSTRAP", "tcp://h:1"},
      {"PMI_FD", "5"},
      {"PMI_RANK", "7"},
      {"PMI_SIZE", "9"},
      {"RANK", "3"},
      {"WORLD_SIZE", "8"},
      {"SLURM_NTASKS", "4"}},
     LaunchKind::kOwn,
     1,
     2,
     0,
     "tcp://h:1",
     "shmem-run"},
    {"Pmi1",
     {{"PMI_FD", "8"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {"MPI_LOCALNRANKS", "2"}},
     LaunchKind::kPmi1,
     1,
     3,
     2,
     "",
     "PMI"},
    {"Pmi1BeforePmixAndBare",
     {{"PMI_FD", "8"},
      {"PMI_RANK", "1"},
      {"PMI_SIZE", "3"},
      {"PMIX_RANK", "0"},
      {"PMIX_NAMESPACE", "a"},
      {"PMIX_SERVER_URI2", "b"},
      {"RANK", "5"},
      {"WORLD_SIZE", "6"},
      {"MASTER_ADDR", "h"}},
     LaunchKind::kPmi1,
     1,
     3,
     0,
     "",
     "PMI"},
    {"PmixWithOpenMpiSize",
     {{"PMIX_RANK", "1"},
      {"PMIX_NAMESPACE", "a"},
      {"PMIX_SERVER_URI41", "b"},
      {"OMPI_COMM_WORLD_RANK", "1"},
      {"OMPI_COMM_WORLD_SIZE", "2"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}},
     LaunchKind::kPmix,
     1,
     2,
     2,
     "",
     "PMIx"},
    {"PmixSizeUnknown",
     {{"PMIX_RANK", "5"}, {"PMIX_NAMESPACE", "a"}, {"PMIX_SERVER_URI2", "b"}},
     LaunchKind::kPmix,
     5,
     0,
     0,
     "",
     "PMIx"},
    {"Torchrun",
     {{"RANK", "3"},
      {"WORLD_SIZE", "4"},
      {"LOCAL_WORLD_SIZE", "2"},
      {"MASTER_ADDR", "10.0.0.1"},
      {"MASTER_PORT", "29500"}},
     LaunchKind::kBare,
     3,
     4,
     2,
     "tcp://10.0.0.1:23356",
     "torchrun"},
    {"TorchrunIpv6",
     {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "::1"}, {"MASTER_PORT", "29501"}},
     LaunchKind::kBare,
     0,
     2,
     0,
     "tcp6://[::1]:23357",
     "torchrun"},
    {"TorchrunDefaultPort",
     {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "head"}},
     LaunchKind::kBare,
     0,
     2,
     0,
     "tcp://head:8666",
     "torchrun"},
    {"TorchrunAlone", {{"WORLD_SIZE", "1"}}, LaunchKind::kBare, 0, 1, 0, "", "torchrun"},
    {"TorchrunInsideASlurmStepWithPmi",
     {{"TORCHELASTIC_RUN_ID", "x"},
      {"RANK", "3"},
      {"WORLD_SIZE", "4"},
      {"MASTER_ADDR", "h"},
      {"MASTER_PORT", "29500"},
      {"PMI_FD", "8"},
      {"PMI_RANK", "1"},
      {"PMI_SIZE", "2"}},
     LaunchKind::kBare,
     3,
     4,
     0,
     "tcp://h:23356",
     "torchrun"},
    {"OpenMpiWithAddress",
     {{"OMPI_COMM_WORLD_RANK", "1"},
      {"OMPI_COMM_WORLD_SIZE", "2"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
      {"SHMEM_BOOTSTRAP", "tcp://h:7777"}},
     LaunchKind::kBare,
     1,
     2,
     1,
     "tcp://h:7777",
     "Open MPI"},
    {"AddressMakesPmiUnneeded",
     {{"PMI_FD", "8"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"SHMEM_BOOTSTRAP", "tcp://h:7777"}},
     LaunchKind::kBare,
     1,
     2,
     0,
     "tcp://h:7777",
     "PMI"},
    {"SlurmOneNode",
     {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_NNODES", "1"}, {"SLURM_JOB_ID", "7"}},
     LaunchKind::kBare,
     1,
     2,
     2,
     "tcp://127.0.0.1:10667",
     "Slurm"},
    {"SlurmNodes",
     {{"SLURM_PROCID", "3"},
      {"SLURM_NTASKS", "8"},
      {"SLURM_STEP_NUM_TASKS", "4"},
      {"SLURM_NNODES", "2"},
      {"SLURM_JOB_ID", "7"},
      {"SLURM_STEP_ID", "1"},
      {"SLURM_STEP_NODELIST", "node[03-04]"}},
     LaunchKind::kBare,
     3,
     4,
     0,
     "tcp://node03:10668",
     "Slurm"},
    {"SlurmWithMasterAddress",
     {{"SLURM_PROCID", "0"},
      {"SLURM_NTASKS", "2"},
      {"MASTER_ADDR", "head"},
      {"MASTER_PORT", "6000"}},
     LaunchKind::kBare,
     0,
     2,
     0,
     "tcp://head:16240",
     "Slurm"},
    {"SlurmAllocationOfOne", {{"SLURM_NTASKS", "1"}}, LaunchKind::kBare, 0, 1, 0, "", "Slurm"},
};

class GoodLaunch : public testing::TestWithParam<Good> {};

TEST_P(GoodLaunch, IsUnderstood) {
  const Good& row = GetParam();
  auto result = detect(row.variables);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  const LaunchEnv& env = result.value();
  EXPECT_EQ(env.kind, row.kind);
  EXPECT_EQ(env.pe, row.pe);
  EXPECT_EQ(env.n_pes, row.n_pes);
  EXPECT_EQ(env.local_pes, row.local_pes);
  EXPECT_EQ(env.address, row.address);
  EXPECT_EQ(env.source, row.source);
}

INSTANTIATE_TEST_SUITE_P(All, GoodLaunch, testing::ValuesIn(kGood),
                         [](const auto& row) { return row.param.name; });

struct Bad {
  const char* name;
  Variables variables;
  Code code;
  std::vector<const char*> parts;  // all in the message
};

// Row A10 of the list of faults: a launcher that is there but cannot be used.
const Bad kBad[] = {
    {"A10SlurmAllocation",
     {{"SLURM_NTASKS", "4"}},
     Code::kBootstrap,
     {"Slurm", "SLURM_NTASKS is set", "SLURM_PROCID"}},
    {"A10SlurmWithoutHosts",
     {{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "2"}},
     Code::kBootstrap,
     {"Slurm", "PE 2 of 4", "SHMEM_BOOTSTRAP"}},
    {"A10PmiSizeAlone", {{"PMI_SIZE", "4"}}, Code::kBootstrap, {"PMI_SIZE is set", "PMI_RANK"}},
    {"A10PmiWithoutWire",
     {{"PMI_SIZE", "4"}, {"PMI_RANK", "1"}},
     Code::kBootstrap,
     {"PMI says", "PE 1 of 4", "shmem-run"}},
    {"A10OpenMpiSizeAlone",
     {{"OMPI_COMM_WORLD_SIZE", "4"}},
     Code::kBootstrap,
     {"Open MPI", "OMPI_COMM_WORLD_RANK"}},
    {"A10OpenMpiWithoutPmix",
     {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"PMIX_RANK", "0"}},
     Code::kBootstrap,
     {"Open MPI", "PE 0 of 4", "PMIX_SERVER_URI"}},
    {"TorchrunWithoutAddress",
     {{"RANK", "0"}, {"WORLD_SIZE", "2"}},
     Code::kBootstrap,
     {"torchrun", "PE 0 of 2", "MASTER_ADDR"}},
    {"RankAlone", {{"RANK", "0"}}, Code::kBootstrap, {"RANK is set", "WORLD_SIZE is not"}},
    {"WorldSizeAlone", {{"WORLD_SIZE", "2"}}, Code::kBootstrap, {"WORLD_SIZE is set", "RANK"}},
    {"OwnWithoutAddress",
     {{"SHMEM_PE", "0"}, {"SHMEM_NPES", "2"}},
     Code::kBootstrap,
     {"SHMEM_BOOTSTRAP is not"}},
    {"OwnWithoutSize", {{"SHMEM_PE", "0"}}, Code::kBootstrap, {"SHMEM_NPES is not"}},
    {"OwnWithoutNumber", {{"SHMEM_NPES", "2"}}, Code::kBootstrap, {"SHMEM_PE is not"}},
    {"AddressOnly",
     {{"SHMEM_BOOTSTRAP", "tcp://h:1"}},
     Code::kBootstrap,
     {"SHMEM_BOOTSTRAP is set", "number of PEs"}},
    {"PmixHalf", {{"PMIX_RANK", "0"}}, Code::kBootstrap, {"PMIX_RANK is set"}},
    {"Pmi1Half", {{"PMI_FD", "4"}, {"PMI_RANK", "0"}}, Code::kBootstrap, {"PMI_SIZE is not"}},
    {"RankNotBelowSize",
     {{"SHMEM_PE", "2"}, {"SHMEM_NPES", "2"}, {"SHMEM_BOOTSTRAP", "tcp://h:1"}},
     Code::kInvalidValue,
     {"SHMEM_PE=2", "SHMEM_NPES=2"}},
    {"Pmi1RankNotBelowSize",
     {{"PMI_FD", "4"}, {"PMI_RANK", "9"}, {"PMI_SIZE", "3"}},
     Code::kInvalidValue,
     {"PMI_RANK=9", "PMI_SIZE=3"}},
    {"PmixRankNotBelowSize",
     {{"PMIX_RANK", "2"},
      {"PMIX_NAMESPACE", "a"},
      {"PMIX_SERVER_URI2", "b"},
      {"OMPI_COMM_WORLD_SIZE", "2"}},
     Code::kInvalidValue,
     {"PMIX_RANK=2", "OMPI_COMM_WORLD_SIZE=2"}},
    {"NotANumber",
     {{"RANK", "1x"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}},
     Code::kInvalidValue,
     {"RANK", "1x"}},
    {"NegativeRank",
     {{"SLURM_PROCID", "-1"}, {"SLURM_NTASKS", "2"}},
     Code::kInvalidValue,
     {"SLURM_PROCID", "-1"}},
    {"SizeZero", {{"RANK", "0"}, {"WORLD_SIZE", "0"}}, Code::kInvalidValue, {"WORLD_SIZE", "0"}},
    {"SizeTooLarge",
     {{"RANK", "0"}, {"WORLD_SIZE", "16385"}},
     Code::kInvalidValue,
     {"WORLD_SIZE", "16385", "16384"}},
    {"SizeOverflows",
     {{"PMI_FD", "4"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "99999999999999999999"}},
     Code::kInvalidValue,
     {"PMI_SIZE"}},
    {"BadPmiFd",
     {{"PMI_FD", "x"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}},
     Code::kInvalidValue,
     {"PMI_FD"}},
    {"BadMasterPort",
     {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "70000"}},
     Code::kInvalidValue,
     {"MASTER_PORT", "70000"}},
    {"TorchrunWithoutNumbers",
     {{"TORCHELASTIC_RUN_ID", "x"}},
     Code::kBootstrap,
     {"TORCHELASTIC_RUN_ID"}},
};

class BadLaunch : public testing::TestWithParam<Bad> {};

TEST_P(BadLaunch, IsANamedError) {
  const Bad& row = GetParam();
  auto result = detect(row.variables);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), row.code);
  for (const char* part : row.parts) {
    EXPECT_THAT(std::string(result.status().text()), HasSubstr(part));
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadLaunch, testing::ValuesIn(kBad),
                         [](const auto& row) { return row.param.name; });

TEST(LaunchEnv, DerivedPortsStayInTheirRangeAndDifferFromTheSeed) {
  for (uint64_t seed = 1; seed < 65536; ++seed) {
    int port = derived_port(seed);
    ASSERT_GE(port, 10240);
    ASSERT_LT(port, 32768);
    ASSERT_NE(static_cast<uint64_t>(port), seed);
  }
}

TEST(LaunchEnv, FirstHostOfASlurmList) {
  EXPECT_EQ(first_slurm_host("node7"), "node7");
  EXPECT_EQ(first_slurm_host("a,b"), "a");
  EXPECT_EQ(first_slurm_host("node[03-07,9],x"), "node03");
  EXPECT_EQ(first_slurm_host("node[5,7]"), "node5");
  EXPECT_EQ(first_slurm_host("r[1-2]n[3-4]-ib"), "r1n3-ib");
  EXPECT_EQ(first_slurm_host("broken[3"), "");
  EXPECT_EQ(first_slurm_host(""), "");
}

}  // namespace
}  // namespace symm::bootstrap
