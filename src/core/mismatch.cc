#include "core/mismatch.h"

#include <algorithm>
#include <cstring>

#include "core/instance.h"
#include "os/ticks.h"
#include "os/wait.h"

namespace symm {
namespace {

constexpr uint64_t kLookEveryUs = 250000;
constexpr std::chrono::milliseconds kPatience{1000};
constexpr uint32_t kWriting = 1;
constexpr uint32_t kWritten = 2;
constexpr uint64_t kSeveralThreads = ~uint64_t{0};

// Not 0 and not kSeveralThreads; another one for every thread that lives.
uint64_t this_thread() {
  thread_local char mark;
  return reinterpret_cast<uint64_t>(&mark);
}

std::string read_call(const symm_control_page& page) {
  char text[sizeof(page.doing)];
  const auto* words = reinterpret_cast<const uint64_t*>(page.doing);
  for (size_t i = 0; i < sizeof(text) / sizeof(uint64_t); ++i) {
    const uint64_t word = __atomic_load_n(words + i, __ATOMIC_RELAXED);
    std::memcpy(text + i * sizeof(word), &word, sizeof(word));
  }
  text[sizeof(text) - 1] = '\0';
  return text[0] != '\0' ? text : "another collective call";
}

std::string name_of_slot(uint32_t slot, uint64_t number) {
  if (slot == kLibrarySlot) return fmt::format("collective memory call or finalize {}", number);
  return fmt::format("barrier {} of {}", number, slot == 0 ? "the world team" : "a team");
}

}  // namespace

Blocked::Blocked(const Instance& instance, const BarrierSpec& spec, uint64_t number)
    : number_(spec.host ? &instance.route(instance.pe()).control->blocked_number : nullptr) {
  if (number_ == nullptr) return;
  symm_control_page& page = *instance.route(instance.pe()).control;
  uint64_t owner = 0;
  // relaxed: only the outcome counts
  if (spec.host &&
      !__atomic_compare_exchange_n(&page.collective_thread, &owner, this_thread(), false,
                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
      owner != this_thread()) {
    __atomic_store_n(&page.collective_thread, kSeveralThreads, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&page.blocked_slot, spec.slot, __ATOMIC_RELAXED);
  __atomic_store_n(&page.blocked_all, is_of_all(spec) ? 1u : 0u, __ATOMIC_RELAXED);
  // release: who sees the number sees the slot; a picture counts only when it stays the same
  __atomic_store_n(number_, number, __ATOMIC_RELEASE);
}

Blocked::~Blocked() {
  if (number_ != nullptr) __atomic_store_n(number_, uint64_t{0}, __ATOMIC_RELEASE);
}

MismatchWatch::Picture MismatchWatch::look() const {
  if (!spec_.host || !is_of_all(spec_)) return {};
  const Route& own = instance_.route(instance_.pe());
  const auto one_thread = [](const symm_control_page& page) {
    return __atomic_load_n(&page.collective_thread, __ATOMIC_RELAXED) != kSeveralThreads;
  };
  if (!one_thread(*own.control)) return {};
  for (int i = 0; i < spec_.size; ++i) {
    const int pe = spec_.members[i];
    const Route& route = instance_.route(pe);
    if (pe == instance_.pe() || route.control == nullptr) continue;
    // acquire: pairs with the release of Blocked
    const uint64_t number = __atomic_load_n(&route.control->blocked_number, __ATOMIC_ACQUIRE);
    if (number == 0 || !one_thread(*route.control)) continue;
    const uint32_t slot = __atomic_load_n(&route.control->blocked_slot, __ATOMIC_RELAXED);
    if (slot == spec_.slot || slot >= kTeamSlots) continue;
    if (__atomic_load_n(&route.control->blocked_all, __ATOMIC_RELAXED) == 0) continue;
    const bool it_came =
        __atomic_load_n(&route.sync[spec_.slot].entered, __ATOMIC_ACQUIRE) >= number_;
    const bool we_came = __atomic_load_n(&own.sync[slot].entered, __ATOMIC_ACQUIRE) >= number;
    if (!it_came && !we_came) return {pe, slot, number};
  }
  return {};
}

bool MismatchWatch::found() {
  if (has_mismatch(instance_)) return true;
  const uint64_t now_ticks = os::ticks();
  if (now_ticks < next_ticks_) return false;
  const bool first = next_ticks_ == 0;
  next_ticks_ = now_ticks + kLookEveryUs * os::ticks_per_us();
  if (first) return false;
  const Picture picture = look();
  const auto now = Clock::now();
  if (picture.pe < 0 || picture != seen_) {
    seen_ = picture;
    since_ = now;
    return false;
  }
  if (now - since_ < kPatience) return false;
  announce(picture);
  // Another PE may be writing its text to this page just now: then the next look finds it.
  return has_mismatch(instance_);
}

void MismatchWatch::announce(const Picture& picture) const {
  const std::string text = fmt::format(
      "collective mismatch: PE {} is in {} ({}) while PE {} is in {} ({}); all PEs must make the "
      "same collective calls in the same order",
      instance_.pe(), spec_.call, name_of_slot(spec_.slot, number_), picture.pe,
      read_call(*instance_.route(picture.pe).control), name_of_slot(picture.slot, picture.number));
  for (int pe = 0; pe < instance_.n_pes(); ++pe) {
    symm_control_page* page = instance_.route(pe).control;
    uint32_t nothing = 0;
    if (page == nullptr || !__atomic_compare_exchange_n(&page->mismatch, &nothing, kWriting, false,
                                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      continue;
    }
    const size_t length = std::min(text.size(), sizeof(page->mismatch_text) - 1);
    std::memcpy(page->mismatch_text, text.data(), length);
    page->mismatch_text[length] = '\0';
    // release: pairs with the acquire of who reads the text
    __atomic_store_n(&page->mismatch, kWritten, __ATOMIC_RELEASE);
    os::notify(page->events);
  }
}

bool has_mismatch(const Instance& instance, int pe) {
  // acquire: the text is complete
  return __atomic_load_n(&instance.route(pe).control->mismatch, __ATOMIC_ACQUIRE) == kWritten;
}

std::string announced_mismatch(const Instance& instance, int pe) {
  if (!has_mismatch(instance, pe)) return "";
  return instance.route(pe).control->mismatch_text;
}

bool has_mismatch(const Instance& instance) { return has_mismatch(instance, instance.pe()); }

std::string announced_mismatch(const Instance& instance) {
  return announced_mismatch(instance, instance.pe());
}

}  // namespace symm
