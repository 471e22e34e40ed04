#include "core/sync.h"

#include <algorithm>
#include <cstring>

#include "core/instance.h"
#include "core/mismatch.h"
#include "os/wait.h"

namespace symm {
namespace {

constexpr size_t kWords = sizeof(symm_control_page::doing) / sizeof(uint64_t);

struct FlagPoll {
  const uint64_t* flag;
  uint64_t number;
  const Instance* instance;
  const BarrierSpec* spec;
  MismatchWatch* mismatch;
};

uint32_t departures_of(const Instance& instance) {
  // acquire: what the departed PE wrote before it counted is visible
  return __atomic_load_n(&instance.route(instance.pe()).control->departures, __ATOMIC_ACQUIRE);
}

// A member that has left the job and will never enter this barrier, or -1.
int departed_member(const Instance& instance, const BarrierSpec& spec, uint64_t number) {
  for (int i = 0; i < spec.size; ++i) {
    const Route& route = instance.route(spec.members[i]);
    if (route.control == nullptr) continue;
    const bool left = __atomic_load_n(&route.control->departed, __ATOMIC_ACQUIRE) != 0;
    if (left && __atomic_load_n(&route.sync[spec.slot].entered, __ATOMIC_ACQUIRE) < number) {
      return spec.members[i];
    }
  }
  return -1;
}

bool flag_arrived(const FlagPoll& poll) {
  // acquire: pairs with the partner's store; what it did before the barrier is visible after it
  return __atomic_load_n(poll.flag, __ATOMIC_ACQUIRE) >= poll.number;
}

int poll_flag(void* argument) {
  const auto& poll = *static_cast<const FlagPoll*>(argument);
  if (flag_arrived(poll)) return 1;
  if (departures_of(*poll.instance) != 0) [[unlikely]] {
    if (departed_member(*poll.instance, *poll.spec, poll.number) >= 0) return 1;
  }
  return poll.mismatch->found();
}

// The wait ended although the flag has not come.
Status never_comes(Instance& instance, const BarrierSpec& spec, uint64_t number) {
  // First: who found the mismatch may have gone already, or who heard of it before this PE.
  std::string why = announced_mismatch(instance);
  const int gone = why.empty() ? departed_member(instance, spec, number) : -1;
  if (gone >= 0) why = announced_mismatch(instance, gone);
  if (!why.empty()) {
    // What comes after cannot match either.
    instance.health().lose(Code::kInvalidParam, -1, why);
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: {}", spec.call, instance.pe(), why);
  }
  const uint32_t lost = __atomic_load_n(&instance.route(gone).control->lost, __ATOMIC_ACQUIRE);
  if (lost != 0) {
    return SYMM_ERROR(kPeerLost,
                      "{} on PE {}: PE {} is lost, and PE {} ended because of it; "
                      "restart the job",
                      spec.call, instance.pe(), lost - 1, gone);
  }
  const uint32_t how = __atomic_load_n(&instance.route(gone).control->departed, __ATOMIC_ACQUIRE);
  const char* cause = how == SYMM_DEPARTED_FINALIZED     ? "it called finalize"
                      : how == SYMM_DEPARTED_GLOBAL_EXIT ? "it ended the job with a global exit"
                                                         : "it exited without finalize";
  return SYMM_ERROR(kPeerLost, "{} on PE {}: PE {} ended without taking part: {}; restart the job",
                    spec.call, instance.pe(), gone, cause);
}

// Copies by relaxed words: another process may be writing; a torn text is only a torn message.
void read_text(const char* from, char* to) {
  const auto* source = reinterpret_cast<const uint64_t*>(from);
  for (size_t i = 0; i < kWords; ++i) {
    uint64_t word = __atomic_load_n(source + i, __ATOMIC_RELAXED);
    std::memcpy(to + i * sizeof(word), &word, sizeof(word));
  }
  to[sizeof(symm_control_page::doing) - 1] = '\0';
}

// A limit of the call does not lift the one that the user set for all waits.
uint64_t limit_of(Instance& instance, const BarrierSpec& spec) {
  const uint64_t general = instance.wait_domain()->timeout_ms;
  if (spec.timeout_ms == 0 || general == 0) return spec.timeout_ms;
  // 0: the general one, also in the message
  return general <= spec.timeout_ms ? 0 : spec.timeout_ms;
}

}  // namespace

Doing::Doing(const Instance& instance, const char* call)
    : where_(instance.route(instance.pe()).control->doing) {
  char text[sizeof(symm_control_page::doing)] = {};
  const size_t length = std::min(std::strlen(call), sizeof(text) - 1);
  std::memcpy(text, call, length);
  auto* words = reinterpret_cast<uint64_t*>(where_);
  for (size_t i = 0; i < kWords && i * sizeof(uint64_t) <= length; ++i) {
    uint64_t word;
    std::memcpy(&word, text + i * sizeof(word), sizeof(word));
    __atomic_store_n(words + i, word, __ATOMIC_RELAXED);
  }
}

Doing::~Doing() {
  __atomic_store_n(reinterpret_cast<uint64_t*>(where_), uint64_t{0}, __ATOMIC_RELAXED);
}

Status run_barrier(Instance& instance, const BarrierSpec& spec) {
  // Not even entered: a PE that has not noticed yet must not take this for the call it waits for.
  if (has_mismatch(instance)) [[unlikely]]
    return never_comes(instance, spec, 0);
  // relaxed: barriers of one slot follow each other in program order on a PE
  const uint64_t number = __atomic_add_fetch(&instance.epochs()[spec.slot], 1, __ATOMIC_RELAXED);
  symm_team_sync& own = instance.route(instance.pe()).sync[spec.slot];
  // release: for the message of a PE that waits for us
  __atomic_store_n(&own.entered, number, __ATOMIC_RELEASE);
  if (spec.size > 1) {
    const Doing doing(instance, spec.call);
    const Blocked blocked(instance, spec, number);
    MismatchWatch mismatch(instance, spec, number);
    int round = 0;
    for (int64_t distance = 1; distance < spec.size; distance *= 2, ++round) {
      const int to = spec.members[(spec.me + distance) % spec.size];
      const int from = spec.members[(spec.me + spec.size - distance) % spec.size];
      const Route& route = instance.route(to);
      // release: what this PE did before the barrier, and what it learned in earlier rounds
      __atomic_store_n(&route.sync[spec.slot].flags[round].value, number, __ATOMIC_RELEASE);
      os::notify(route.control->events);
      FlagPoll poll{&own.flags[round].value, number, &instance, &spec, &mismatch};
      if (!flag_arrived(poll)) {
        symm_wait wait{poll_flag,
                       &poll,
                       instance.wait_domain(),
                       spec.call,
                       limit_of(instance, spec),
                       spec.team,
                       from,
                       poll.flag,
                       static_cast<int64_t>(number),
                       -1,
                       SYMM_WAIT_KIND_BARRIER};
        SYMM_TRY(os::wait(wait));
        if (!flag_arrived(poll)) return never_comes(instance, spec, number);
      }
    }
  }
  __atomic_store_n(&own.left, number, __ATOMIC_RELEASE);
  return {};
}

void describe_missing(const Instance& instance, const int32_t* members, int size, uint32_t slot,
                      uint64_t number, char* text, size_t text_size) {
  constexpr int kNamed = 8;
  std::string names;
  int missing = 0;
  for (int i = 0; i < size; ++i) {
    const Route& route = instance.route(members[i]);
    if (route.control == nullptr) continue;
    if (__atomic_load_n(&route.sync[slot].entered, __ATOMIC_ACQUIRE) >= number) continue;
    if (++missing > kNamed) continue;
    char doing[sizeof(symm_control_page::doing)];
    read_text(route.control->doing, doing);
    const uint32_t left = __atomic_load_n(&route.control->departed, __ATOMIC_ACQUIRE);
    const char* what = left == SYMM_DEPARTED_EXIT || left == SYMM_DEPARTED_GLOBAL_EXIT
                           ? "ended without finalize"
                       : left == SYMM_DEPARTED_FINALIZED ? "has finalized"
                       : doing[0] != '\0'                ? doing
                                                         : "not in a collective call";
    const uint64_t last = __atomic_load_n(&route.sync[slot].entered, __ATOMIC_ACQUIRE);
    names += fmt::format("{}PE {} ({}; last in barrier {})", names.empty() ? "" : ", ", members[i],
                         what, last);
  }
  if (missing > kNamed) names += fmt::format(" and {} more", missing - kNamed);
  if (missing == 0) names = "all have entered";
  const auto end = fmt::format_to_n(text, text_size - 1, "barrier {}, missing: {}", number, names);
  *end.out = '\0';
}

}  // namespace symm
