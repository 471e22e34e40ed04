#include "store/kv.h"

#include <algorithm>
#include <charconv>

namespace symm::store {

Status Kv::store(const std::string& key, std::string value, Wakeups& out) {
  auto found = table_.find(key);
  size_t before = found == table_.end() ? 0 : key.size() + found->second.size() + kEntryCharge;
  size_t after = key.size() + value.size() + kEntryCharge;
  if (used_ - before + after > max_bytes_) {
    return SYMM_ERROR(kNoMemory, "the store is full: {} bytes used, {} allowed", used_, max_bytes_);
  }
  used_ = used_ - before + after;
  std::string& slot = table_[key];
  slot = std::move(value);
  std::erase_if(waiters_, [&](Waiter& waiter) {
    if (waiter.key != key) return false;
    out.push_back({waiter.ticket, slot});
    return true;
  });
  return {};
}

Status Kv::set(const std::string& key, std::string value, Wakeups& out) {
  return store(key, std::move(value), out);
}

Result<int64_t> Kv::add(const std::string& key, int64_t delta, Wakeups& out) {
  int64_t number = 0;
  if (const std::string* text = find(key)) {
    auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc() || end != text->data() + text->size()) {
      return SYMM_ERROR(kInvalidValue, "add: the value of '{}' is not a number", key);
    }
  }
  int64_t sum = 0;
  if (__builtin_add_overflow(number, delta, &sum)) {
    return SYMM_ERROR(kInvalidValue, "add: '{}' overflows: {} + {}", key, number, delta);
  }
  SYMM_TRY(store(key, std::to_string(sum), out));
  return sum;
}

Result<size_t> Kv::append(const std::string& key, const std::string& tail, Wakeups& out) {
  const std::string* present = find(key);
  std::string value = present != nullptr ? *present + tail : tail;
  size_t length = value.size();
  SYMM_TRY(store(key, std::move(value), out));
  return length;
}

Result<std::optional<std::string>> Kv::compare_and_swap(const std::string& key,
                                                        const std::string& expected,
                                                        std::string value, Wakeups& out) {
  const std::string* present = find(key);
  std::optional<std::string> before;
  if (present != nullptr) before = *present;
  bool equal = present != nullptr ? *present == expected : expected.empty();
  if (equal) SYMM_TRY(store(key, std::move(value), out));
  return before;
}

bool Kv::remove(const std::string& key) {
  auto found = table_.find(key);
  if (found == table_.end()) return false;
  used_ -= key.size() + found->second.size() + kEntryCharge;
  table_.erase(found);
  return true;
}

const std::string* Kv::find(const std::string& key) const {
  auto found = table_.find(key);
  return found == table_.end() ? nullptr : &found->second;
}

Status Kv::wait(const std::string& key, uint64_t ticket,
                std::optional<Clock::time_point> deadline) {
  if (waiters_.size() >= kMaxWaiters) {
    return SYMM_ERROR(kNoMemory, "more than {} requests wait for keys", kMaxWaiters);
  }
  waiters_.push_back({key, ticket, deadline});
  return {};
}

void Kv::forget(uint64_t ticket) {
  std::erase_if(waiters_, [&](const Waiter& waiter) { return waiter.ticket == ticket; });
}

std::optional<Clock::time_point> Kv::next_deadline() const {
  std::optional<Clock::time_point> next;
  for (const Waiter& waiter : waiters_) {
    if (waiter.deadline && (!next || *waiter.deadline < *next)) next = waiter.deadline;
  }
  return next;
}

void Kv::expire(Clock::time_point now, Wakeups& out) {
  std::erase_if(waiters_, [&](const Waiter& waiter) {
    if (!waiter.deadline || *waiter.deadline > now) return false;
    out.push_back({waiter.ticket, std::nullopt});
    return true;
  });
}

std::vector<uint64_t> Kv::take_waiters() {
  std::vector<uint64_t> tickets;
  for (const Waiter& waiter : waiters_) tickets.push_back(waiter.ticket);
  waiters_.clear();
  return tickets;
}

}  // namespace symm::store
