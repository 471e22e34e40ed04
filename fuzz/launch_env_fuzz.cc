// What launchers leave in the environment: lines NAME=VALUE; lists of hosts; host names.
#include <map>

#include "bootstrap/launch_env.h"
#include "require.h"

namespace {

std::map<std::string, std::string> variables(std::string_view text) {
  std::map<std::string, std::string> out;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t equals = line.find('=');
    if (equals != std::string_view::npos)
      out[std::string(line.substr(0, equals))] = line.substr(equals + 1);
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace symm::bootstrap;
  std::string text(reinterpret_cast<const char*>(data), size);
  auto given = variables(text);
  auto env = detect_launch_env([&](const char* name) -> std::optional<std::string> {
    auto found = given.find(name);
    if (found == given.end()) return std::nullopt;
    return found->second;
  });
  if (env.ok()) {
    const LaunchEnv& got = env.value();
    SYMM_REQUIRE(got.pe >= 0 && got.local_pes >= 0);
    SYMM_REQUIRE(got.n_pes > got.pe || (got.kind == LaunchKind::kPmix && got.n_pes == 0));
    SYMM_REQUIRE(got.n_pes <= 16384);
    bool exchanged = got.kind == LaunchKind::kPmi1 || got.kind == LaunchKind::kPmix;
    SYMM_REQUIRE(got.n_pes == 1 || exchanged || !got.address.empty());
  }
  std::string host = first_slurm_host(text);
  SYMM_REQUIRE(host.size() <= text.size() && host.find(',') == std::string::npos);
  if (!text.empty()) SYMM_REQUIRE(launch_address(text, 8666).starts_with("tcp"));
  int port = derived_port(size);
  SYMM_REQUIRE(port >= 10240 && port < 32768);
  return 0;
}
