// What the other PEs of a launcher's key space may have left there for us to read.
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "bootstrap/pmix/kvs_group.h"
#include "require.h"

namespace {

using namespace symm;
using namespace symm::bootstrap;

// PE 0 of 2. PE 1 answers with pieces of the input: length byte, bytes; or, length 255, with what
// PE 0 put itself.
class HostileSpace : public KvsClient {
 public:
  explicit HostileSpace(std::string_view input) : input_(input) {}
  int pe() const override { return 0; }
  int n_pes() const override { return 2; }
  size_t value_limit() const override { return 48; }
  Status put(const std::string& key, const std::string& value) override {
    SYMM_REQUIRE(value.size() <= value_limit());
    own_.emplace_back(key, value);
    return {};
  }
  Status fence(Deadline) override { return {}; }
  Result<std::string> get(int pe, const std::string& key, Deadline) override {
    if (pe == 0) return own(key);
    if (input_.empty()) return SYMM_ERROR(kBootstrap, "no more");
    auto length = static_cast<uint8_t>(input_[0]);
    input_.remove_prefix(1);
    if (length == 255) return own(key);
    std::string value(input_.substr(0, length));
    input_.remove_prefix(value.size());
    return value;
  }
  std::string missing(const std::string&) override { return "nobody"; }
  Status abort(int) override { return {}; }
  std::string describe() const override { return "fuzz"; }

 private:
  Result<std::string> own(const std::string& key) const {
    for (const auto& [name, value] : own_) {
      if (name == key) return value;
    }
    return SYMM_ERROR(kBootstrap, "no such key");
  }
  std::string_view input_;
  std::vector<std::pair<std::string, std::string>> own_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto space =
      std::make_shared<HostileSpace>(std::string_view(reinterpret_cast<const char*>(data), size));
  symm_bootstrap_config config{};
  config.size = sizeof(config);
  config.pe = 0;
  config.n_pes = 2;
  config.connect_timeout_s = 10;
  config.operation_timeout_s = 10;
  auto group = KvsGroup::open(space, 1, config);
  if (!group.ok()) return 0;
  SYMM_REQUIRE(config.pe == 0 && config.n_pes == 2);
  char all[2][100];
  char mine[100];
  std::memset(mine, 'x', sizeof(mine));
  for (int step = 0; step < 3; ++step) {
    if (!group.value()->barrier("step").ok()) return 0;
    Status gathered = group.value()->allgather(mine, sizeof(mine), all, "values");
    if (!gathered.ok()) return 0;
    SYMM_REQUIRE(std::memcmp(all[0], mine, sizeof(mine)) == 0);
  }
  return 0;
}
