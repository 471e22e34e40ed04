#include "core/sync.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/instance.h"
#include "core/mismatch.h"
#include "os/ticks.h"
#include "os/wait.h"

namespace symm {
namespace {

constexpr size_t kWords = sizeof(symm_control_page::doing) / sizeof(uint64_t);

// Enough for a partner that arrives at the same time; the rest is the business of os::wait.
constexpr int kFirstLooks = 64;

struct FlagPoll {
  const uint64_t* flag;
  uint64_t number;
  Instance* instance;
  const BarrierSpec* spec;
  symm_team_sync* own;
  MismatchWatch* mismatch;
};

symm_team_sync& sync_of(const Instance& instance, const BarrierSpec& spec, int member) {
  const uint32_t slot = spec.slots != nullptr ? spec.slots[member] : spec.slot;
  return instance.route(spec.members[member]).sync[slot];
}

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
    if (left && __atomic_load_n(&sync_of(instance, spec, i).entered, __ATOMIC_ACQUIRE) < number) {
      return spec.members[i];
    }
  }
  return -1;
}

bool flag_arrived(const FlagPoll& poll) {
  // acquire: pairs with the partner's store; what it did before the barrier is visible after it
  return __atomic_load_n(poll.flag, __ATOMIC_ACQUIRE) >> 8 >= poll.number;
}

uint64_t mismatch_of(const FlagPoll& poll) {
  // acquire: pairs with the store in spread()
  const uint64_t word = __atomic_load_n(&poll.own->mismatch, __ATOMIC_ACQUIRE);
  return symm_mismatch_is(word, poll.number) ? word : 0;
}

int poll_flag(void* argument) {
  auto& poll = *static_cast<FlagPoll*>(argument);
  if (flag_arrived(poll) || mismatch_of(poll) != 0) return 1;
  if (departures_of(*poll.instance) != 0 &&
      departed_member(*poll.instance, *poll.spec, poll.number) >= 0) {
    return 1;
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

bool is_of_all(const BarrierSpec& spec) {
  return spec.slot == kLibrarySlot || spec.slot == uint32_t{ACLSHMEM_TEAM_WORLD};
}

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

namespace {

// Tells every member of the slot that two kinds of call met in barrier `number`.
void spread(const Instance& instance, const BarrierSpec& spec, uint64_t word) {
  for (int i = 0; i < spec.size; ++i) {
    // release: the first one that is told may as well be the last
    __atomic_store_n(&sync_of(instance, spec, i).mismatch, word, __ATOMIC_RELEASE);
    os::notify(instance.route(spec.members[i]).control->events);
  }
}

Status mismatch_error(Instance& instance, const BarrierSpec& spec, uint64_t word) {
  const auto kind_a = (word >> 34) & 63;
  const auto pe_a = static_cast<int>((word >> 20) & 0x3fff);
  const auto kind_b = (word >> 14) & 63;
  const auto pe_b = static_cast<int>(word & 0x3fff);
  auto what = [&](uint64_t kind, int pe) {
    if (pe == instance.pe()) return std::string(spec.call);
    const std::string doing = activity_of(instance, pe);
    return doing.starts_with("aclshmem") ? doing : std::string(symm_call_name(kind));
  };
  const std::string why = fmt::format(
      "collective mismatch: PE {} is in {}, PE {} in {}; all members must make the same collective "
      "calls in the same order",
      pe_a, what(kind_a, pe_a), pe_b, what(kind_b, pe_b));
  // What comes after cannot match either.
  if (is_of_all(spec)) instance.health().lose(Code::kInvalidParam, -1, why);
  return SYMM_ERROR(kInvalidParam, "{} on PE {}: {}", spec.call, instance.pe(), why);
}

// The flag has come, or something else ended the wait for it.
Status judge(FlagPoll& poll, int from) {
  const BarrierSpec& spec = *poll.spec;
  Instance& instance = *poll.instance;
  const uint64_t flag = __atomic_load_n(poll.flag, __ATOMIC_ACQUIRE);
  // First: a partner that ended this barrier with an error has told us, and may have gone on to
  // another call, which is what the flag then says.
  if (const uint64_t word = mismatch_of(poll); word != 0) [[unlikely]] {
    return mismatch_error(instance, spec, word);
  }
  if (flag >> 8 == poll.number) {
    const uint64_t theirs = flag & 0xff;
    if (theirs == spec.kind) [[likely]]
      return {};
    const uint64_t word = SYMM_MISMATCH(poll.number, spec.kind, instance.pe(), theirs, from);
    Status error = mismatch_error(instance, spec, word);
    spread(instance, spec, word);
    return error;
  }
  if (flag >> 8 > poll.number) return {};
  return never_comes(instance, spec, poll.number);
}

Status wait_for_flag(FlagPoll& poll, int from) {
  const BarrierSpec& spec = *poll.spec;
  Instance& instance = *poll.instance;
  const Doing doing(instance, spec.call);
  const Blocked blocked(instance, spec, poll.number);
  symm_wait wait{poll_flag,
                 &poll,
                 instance.wait_domain(),
                 spec.call,
                 limit_of(instance, spec),
                 spec.team,
                 from,
                 poll.flag,
                 static_cast<int64_t>(poll.number),
                 -1,
                 SYMM_WAIT_KIND_BARRIER};
  return os::wait(wait);
}

Status exchange(Instance& instance, const BarrierSpec& spec, symm_team_sync& own, uint64_t number) {
  const bool may_spin = instance.wait_domain()->may_spin != 0;
  MismatchWatch mismatch(instance, spec, number);
  int round = 0;
  for (int distance = 1; distance < spec.size; distance *= 2, ++round) {
    int to = spec.me + distance;
    if (to >= spec.size) to -= spec.size;
    int from = spec.me - distance;
    if (from < 0) from += spec.size;
    // release: what this PE did before the barrier, and what it learned in earlier rounds
    __atomic_store_n(&sync_of(instance, spec, to).flags[round].value,
                     SYMM_ARRIVAL(number, spec.kind), __ATOMIC_RELEASE);
    os::notify(instance.route(spec.members[to]).control->events);
    FlagPoll poll{&own.flags[round].value, number, &instance, &spec, &own, &mismatch};
    bool arrived = flag_arrived(poll);
    for (int i = 0; may_spin && !arrived && i < kFirstLooks; ++i) {
      os::pause();
      arrived = flag_arrived(poll);
    }
    if (!arrived) SYMM_TRY(wait_for_flag(poll, spec.members[from]));
    SYMM_TRY(judge(poll, spec.members[from]));
  }
  return {};
}

}  // namespace

Status run_barrier(Instance& instance, const BarrierSpec& spec) {
  // Not even entered: a PE that has not noticed yet must not take this for the call it waits for.
  if (has_mismatch(instance)) [[unlikely]]
    return never_comes(instance, spec, 0);
  symm_team_sync& own = instance.route(instance.pe()).sync[spec.slot];
  uint64_t& epoch = instance.epochs()[spec.slot];
  // acquire: pairs with the release at the end of the barrier before, by whatever thread
  const uint64_t left = __atomic_load_n(&own.left, __ATOMIC_ACQUIRE);
  uint64_t before = left;
  // Fails while another thread, stream or kernel is between its entry and its end.
  if (!__atomic_compare_exchange_n(&epoch, &before, left + 1, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    return SYMM_ERROR(kInvalidParam,
                      "{} on PE {}: another barrier or collective of the same team is going on in "
                      "this PE (a thread, a stream or a kernel); let one end before the next, or "
                      "use a team of its own for it",
                      spec.call, instance.pe());
  }
  const uint64_t number = left + 1;
  // release: for the message of a PE that waits for us
  __atomic_store_n(&own.entered, number, __ATOMIC_RELEASE);
  Status status;
  if (spec.size > 1) status = exchange(instance, spec, own, number);
  __atomic_store_n(&own.left, number, __ATOMIC_RELEASE);
  return status;
}

std::string activity_of(const Instance& instance, int pe) {
  const symm_control_page& page = *instance.route(pe).control;
  // acquire: what a PE did before it left is visible
  const uint32_t left = __atomic_load_n(&page.departed, __ATOMIC_ACQUIRE);
  if (left == SYMM_DEPARTED_FINALIZED) return "has finalized";
  if (left != 0) return "ended without finalize";
  char doing[sizeof(symm_control_page::doing)];
  read_text(page.doing, doing);
  return doing[0] != '\0' ? doing : "not in a collective call";
}

void describe_missing(const Instance& instance, const int32_t* members, int size, uint32_t slot,
                      const uint32_t* slots, uint64_t number, char* text, size_t text_size) {
  constexpr int kNamed = 8;
  std::string names;
  int missing = 0;
  for (int i = 0; i < size; ++i) {
    const Route& route = instance.route(members[i]);
    if (route.control == nullptr) continue;
    const symm_team_sync& theirs = route.sync[slots != nullptr ? slots[i] : slot];
    if (__atomic_load_n(&theirs.entered, __ATOMIC_ACQUIRE) >= number) continue;
    if (++missing > kNamed) continue;
    names += fmt::format("{}PE {} ({}; last in barrier {})", names.empty() ? "" : ", ", members[i],
                         activity_of(instance, members[i]),
                         __atomic_load_n(&theirs.entered, __ATOMIC_ACQUIRE));
  }
  if (missing > kNamed) names += fmt::format(" and {} more", missing - kNamed);
  if (missing == 0) names = "all have entered";
  const auto end = fmt::format_to_n(text, text_size - 1, "barrier {}, missing: {}", number, names);
  *end.out = '\0';
}

}  // namespace symm
