// The key-value table against a plain map: any order of calls on a few keys, with a small limit of
// memory, waiters and time.
#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "require.h"
#include "store/kv.h"

namespace {

using namespace symm::store;

constexpr size_t kLimit = 4096;

class Model {
 public:
  // One step takes: action, key, length, bytes.
  void run(std::string_view data) {
    while (data.size() >= 3) {
      auto action = static_cast<uint8_t>(data[0]);
      std::string key(1, static_cast<char>('a' + static_cast<uint8_t>(data[1]) % 5));
      size_t length = std::min<size_t>(static_cast<uint8_t>(data[2]), data.size() - 3);
      step(action, key, std::string(data.substr(3, length)));
      data.remove_prefix(3 + length);
      check(key);
    }
  }

 private:
  void step(uint8_t action, const std::string& key, const std::string& text) {
    Kv::Wakeups out;
    switch (action % 8) {
      case 0:
        if (kv_.set(key, text, out).ok()) table_[key] = text;
        break;
      case 1: {
        int64_t delta = text.empty() ? 1 : static_cast<int8_t>(text[0]) * (INT64_MAX / 200);
        auto sum = kv_.add(key, delta, out);
        if (sum.ok()) table_[key] = std::to_string(sum.value());
        break;
      }
      case 2: {
        auto length = kv_.append(key, text, out);
        if (!length.ok()) break;
        table_[key] += text;
        SYMM_REQUIRE(length.value() == table_[key].size());
        break;
      }
      case 3: {
        std::string expected = table_.contains(key) && action >= 128 ? table_[key] : "";
        auto before = kv_.compare_and_swap(key, expected, text, out);
        if (!before.ok()) break;
        SYMM_REQUIRE(before.value().has_value() == table_.contains(key));
        if (before.value().value_or("") == expected) table_[key] = text;
        break;
      }
      case 4:
        SYMM_REQUIRE(kv_.remove(key) == (table_.erase(key) == 1));
        break;
      case 5: {
        if (table_.contains(key)) break;
        std::optional<Clock::time_point> until;
        if (!text.empty()) until = now_ + std::chrono::milliseconds(static_cast<uint8_t>(text[0]));
        if (kv_.wait(key, ++ticket_, until).ok()) waiting_[ticket_] = key;
        break;
      }
      case 6:
        kv_.forget(waiting_.empty() ? ticket_ : waiting_.begin()->first);
        if (!waiting_.empty()) waiting_.erase(waiting_.begin());
        break;
      case 7:
        now_ += std::chrono::milliseconds(action);
        kv_.expire(now_, out);
        for (const Kv::Wakeup& one : out) SYMM_REQUIRE(!one.value.has_value());
        break;
    }
    for (const Kv::Wakeup& one : out) {
      auto found = waiting_.find(one.ticket);
      SYMM_REQUIRE(found != waiting_.end());
      if (one.value)
        SYMM_REQUIRE(table_.contains(found->second) && *one.value == table_[found->second]);
      waiting_.erase(found);
    }
  }

  void check(const std::string& key) {
    const std::string* found = kv_.find(key);
    auto wanted = table_.find(key);
    SYMM_REQUIRE((found != nullptr) == (wanted != table_.end()));
    if (found != nullptr) SYMM_REQUIRE(*found == wanted->second);
    size_t used = 0;
    for (const auto& [name, value] : table_) used += name.size() + value.size() + Kv::kEntryCharge;
    SYMM_REQUIRE(used <= kLimit);
    // Nobody waits for a key that is there.
    for (const auto& [ticket, name] : waiting_) SYMM_REQUIRE(!table_.contains(name));
    auto next = kv_.next_deadline();
    SYMM_REQUIRE(!next || *next > now_ || !waiting_.empty());
  }

  Kv kv_{kLimit};
  std::map<std::string, std::string> table_;
  std::map<uint64_t, std::string> waiting_;
  uint64_t ticket_ = 0;
  Clock::time_point now_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Model().run({reinterpret_cast<const char*>(data), size});
  return 0;
}
