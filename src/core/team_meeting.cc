// How the members of a new team find each other: by cards in their control areas.
#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "core/instance.h"
#include "core/sync.h"
#include "core/team.h"
#include "os/wait.h"

namespace symm {
namespace {

constexpr uint32_t kNoCard = UINT32_MAX;
// How long a split waits for the other members; then the team is complete at its first use. Members
// that make teams in different orders, or meet in another team before, would wait for each other
// for ever. Also how long a member may stay away after a call of its own failed before that counts
// as the answer: it may have failed in another call, and come yet.
constexpr auto kPatience = std::chrono::seconds(1);

uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

uint64_t key_of(const Team& team) {
  uint64_t key = mix(static_cast<uint64_t>(team.size()));
  for (int i = 0; i < team.size(); ++i) {
    key = mix(key + 0x9e3779b97f4a7c15U + static_cast<uint64_t>(team.world(i)));
  }
  return key | 1;  // never 0
}

template <typename T>
T acquire(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

template <typename T>
void release(T& word, T value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}

}  // namespace

bool Teams::is_late(const Team& team) {
  return std::chrono::steady_clock::now() - team.asked_ > kPatience;
}

struct Teams::Meeting {
  Teams* teams;
  Team* team;
  bool may_leave;
  Step step = Step::kWaiting;

  static int poll(void* argument) {
    auto& self = *static_cast<Meeting*>(argument);
    self.step = self.teams->advance(*self.team, self.may_leave);
    return self.step != Step::kWaiting;
  }
};

symm_control_page& Teams::page(int pe) const { return *instance_->route(pe).control; }
symm_team_card* Teams::cards(int pe) const { return team_cards(instance_->route(pe).control); }
symm_team_sync& Teams::place(int pe, uint32_t slot) const {
  return instance_->route(pe).sync[slot];
}

void Teams::begin(Team& team, const Team& parent, bool full) {
  team.parent_ = &parent;
  team.key_ = key_of(team);
  if (team.slot() < kTeamSlots) clear_place(team.slot());
  if (full) {
    team.culprit_ = instance_->pe();
    team.code_ = Code::kInternal;
  }
  if (team.me() == 0) {
    team.id_ = SYMM_TEAM_ID(instance_->pe(), ++serial_);
    post(team);
  }
}

// Nobody else writes here: all that was sent to the team before has been waited for.
void Teams::clear_place(uint32_t slot) {
  symm_team_sync& sync = place(instance_->pe(), slot);
  // relaxed: the card that follows is written with release
  for (symm_sync_flag& flag : sync.flags) {
    __atomic_store_n(&flag.value, uint64_t{0}, __ATOMIC_RELAXED);
  }
  for (uint64_t* word : {&sync.entered, &sync.left, &sync.mismatch, &sync.failed_splits}) {
    __atomic_store_n(word, uint64_t{0}, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&instance_->epochs()[slot], uint64_t{0}, __ATOMIC_RELAXED);
}

void Teams::post(Team& team) {
  symm_team_card& card = cards(instance_->pe())[team.slot()];
  const bool failed = team.culprit_ >= 0;
  // relaxed, then release: who sees the id sees the rest
  __atomic_store_n(&card.culprit, static_cast<uint32_t>(team.culprit_), __ATOMIC_RELAXED);
  __atomic_store_n(&card.code, static_cast<int32_t>(team.code_), __ATOMIC_RELAXED);
  release(card.state, uint32_t{failed ? SYMM_CARD_FAILED : SYMM_CARD_POSTED});
  release(card.key, team.key_);
  release(card.id, team.id_);
  symm_control_page& own = page(instance_->pe());
  if (acquire(own.cards_used) <= team.slot()) release(own.cards_used, team.slot() + 1);
  tell(team);
}

void Teams::tell(const Team& team) const {
  for (int i = 0; i < team.size(); ++i) {
    if (i != team.me()) os::notify(page(team.world(i)).events);
  }
}

// Finds the first member's card, takes over the id and shows an own card.
bool Teams::bind(Team& team) {
  const int leader = team.world(0);
  const symm_team_card* theirs = cards(leader);
  const uint32_t used = acquire(page(leader).cards_used);
  uint64_t best = 0;
  uint32_t where = kNoCard;
  for (uint32_t i = 0; i < used; ++i) {
    const uint64_t id = acquire(theirs[i].id);
    if (id == 0 || (best != 0 && id > best) || acquire(theirs[i].key) != team.key_) continue;
    if (id >> 48 != static_cast<uint64_t>(leader) || joined_.contains(id)) continue;
    // The one that this PE itself has refused to make.
    if (acquire(theirs[i].state) == SYMM_CARD_FAILED &&
        theirs[i].culprit == static_cast<uint32_t>(instance_->pe())) {
      continue;
    }
    if (acquire(theirs[i].id) != id) continue;
    best = id;
    where = i;
  }
  if (best == 0) return false;
  team.id_ = best;
  team.slots_[0] = where;
  joined_.insert(best);
  bound_.push_back({best, where});
  post(team);
  return true;
}

uint32_t Teams::find_card(int pe, uint64_t id, uint32_t hint) const {
  const symm_team_card* theirs = cards(pe);
  if (hint < kTeamCards && acquire(theirs[hint].id) == id) return hint;
  const uint32_t used = acquire(page(pe).cards_used);
  for (uint32_t i = 0; i < used; ++i) {
    if (acquire(theirs[i].id) == id) return i;
  }
  return kNoCard;
}

void Teams::set_culprit(Team& team, int pe, Code code) {
  if (team.culprit_ >= 0) return;
  team.culprit_ = pe;
  team.code_ = code;
  if (team.id_ != 0) post(team);
}

// A member that will not come: it has left the job, or its own call has failed.
void Teams::look_for_refusals(Team& team, int member) {
  const int pe = team.world(member);
  if (acquire(page(pe).departed) != 0) return set_culprit(team, pe, Code::kPeerLost);
  if (!is_late(team)) return;
  for (const Team* above : {team.parent_, static_cast<const Team*>(owned_[0].get())}) {
    const int index = above->index_of(pe);
    if (!above->ready() || index < 0) continue;
    const uint64_t word =
        acquire(place(pe, above->slots_[static_cast<size_t>(index)]).failed_splits);
    const uint64_t theirs = word & 0xfffff;
    Team& known = *owned_[above->slot()];
    // One from before a barrier that both have been in is about another call.
    const bool stale = word >> 20 != place(instance_->pe(), above->slot()).entered;
    uint64_t& heard = known.heard_[static_cast<size_t>(index)];
    if (word == 0 || stale || theirs == heard) continue;
    heard = theirs;
    return set_culprit(team, pe, Code::kInvalidParam);
  }
}

// Whether the member waits, through others perhaps, for this PE in the making of another team.
bool Teams::circle(const Team& team, int missing) const {
  const int me = instance_->pe();
  int pe = team.world(missing);
  for (int step = 0; step < instance_->n_pes(); ++step) {
    const uint32_t next = acquire(page(pe).split_for);
    const uint64_t key = acquire(page(pe).split_key);
    if (next == 0 || key == team.key_) return false;
    if (static_cast<int>(next) - 1 != me) {
      pe = static_cast<int>(next) - 1;
      continue;
    }
    // It may only not have looked yet.
    const symm_team_card* mine = cards(me);
    for (uint32_t i = 0; i < page(me).cards_used; ++i) {
      if (mine[i].id == 0 || mine[i].key != key) continue;
      const uint32_t card = find_card(pe, mine[i].id, i);
      if (card == kNoCard || acquire(cards(pe)[card].state) == SYMM_CARD_POSTED) return false;
    }
    return true;
  }
  return false;
}

Teams::Step Teams::advance(Team& team, bool may_leave) {
  std::lock_guard lock(mutex_);
  if (team.ready()) return Step::kReady;
  int missing = -1;
  if (team.id_ == 0 && !bind(team)) {
    missing = 0;
    // The others learn of refusals by the first member's card, so that all fail together.
    look_for_refusals(team, 0);
    if (team.culprit_ == team.world(0)) return Step::kFailed;
  }
  for (int i = 0; team.id_ != 0 && i < team.size() && team.culprit_ < 0; ++i) {
    if (i == team.me()) continue;
    uint32_t& slot = team.slots_[static_cast<size_t>(i)];
    if (slot == Team::kUnseen) slot = find_card(team.world(i), team.id_, team.slot());
    if (slot == Team::kUnseen) {
      if (missing < 0) missing = i;
      look_for_refusals(team, i);
      continue;
    }
    const symm_team_card& card = cards(team.world(i))[slot];
    if (acquire(card.state) == SYMM_CARD_FAILED && acquire(card.id) == team.id_) {
      set_culprit(team, static_cast<int>(card.culprit), static_cast<Code>(card.code));
    }
  }
  if (team.id_ != 0 && team.culprit_ >= 0) return Step::kFailed;
  symm_control_page& own = page(instance_->pe());
  if (missing < 0) {
    release(cards(instance_->pe())[team.slot()].state, uint32_t{SYMM_CARD_READY});
    team.ready_.store(true, std::memory_order_release);
    if (table_[team.slot()].load(std::memory_order_relaxed) == &team) {
      instance_->device().set_team(team);
    }
    return Step::kReady;
  }
  release(own.split_key, team.key_);
  release(own.split_for, static_cast<uint32_t>(team.world(missing)) + 1);
  return may_leave && (is_late(team) || circle(team, missing)) ? Step::kLeave : Step::kWaiting;
}

Status Teams::run(Team& team, const char* call, bool may_leave) {
  {
    std::lock_guard lock(mutex_);
    team.asked_ = std::chrono::steady_clock::now();
  }
  Meeting meeting{this, &team, may_leave};
  const Doing doing(*instance_, call);
  symm_wait wait{Meeting::poll,
                 &meeting,
                 instance_->wait_domain(),
                 call,
                 static_cast<uint64_t>(instance_->options().operation_timeout_s * 1000),
                 -1,
                 -1,
                 nullptr,
                 0,
                 -1,
                 SYMM_WAIT_KIND_SPLIT};
  Status waited = os::wait(wait);
  release(page(instance_->pe()).split_for, uint32_t{0});
  if (waited.ok()) return meeting.step == Step::kFailed ? failure(team, call) : Status();
  std::lock_guard lock(mutex_);
  const int lost = instance_->health().lost_pe();
  set_culprit(team, lost >= 0 ? lost : instance_->pe(), waited.code());
  return waited;
}

Status Teams::failure(const Team& team, const char* call) const {
  const int me = instance_->pe();
  if (team.code_ == Code::kInternal) {
    return SYMM_ERROR(kInternal,
                      "{} on PE {}: all {} teams of PE {} are in use; no member gets the new one; "
                      "destroy some there",
                      call, me, ACLSHMEM_MAX_TEAMS, team.culprit_);
  }
  if (team.code_ == Code::kPeerLost) {
    return SYMM_ERROR(kPeerLost, "{} on PE {}: PE {} has left the job and cannot join the team",
                      call, me, team.culprit_);
  }
  if (team.code_ == Code::kInvalidParam) {
    return SYMM_ERROR(kInvalidParam,
                      "{} on PE {}: the call of PE {} failed (its message says why), so no member "
                      "gets the team; pass the same arguments on all members",
                      call, me, team.culprit_);
  }
  return Status(team.code_,
                fmt::format("{} on PE {}: PE {} gave up waiting for members of the team", call, me,
                            team.culprit_),
                __FILE__, __LINE__);
}

void Teams::describe(const symm_wait& wait, char* text, size_t size) const {
  constexpr int kNamed = 8;
  std::lock_guard lock(mutex_);
  const Team& team = *static_cast<const Meeting*>(wait.argument)->team;
  std::string members;
  std::string missing;
  for (int i = 0; i < team.size(); ++i) {
    if (i < kNamed) members += fmt::format("{}{}", i == 0 ? "" : ", ", team.world(i));
    if (i == team.me() || team.slots_[static_cast<size_t>(i)] != Team::kUnseen) continue;
    missing += fmt::format("{}PE {} ({})", missing.empty() ? "" : ", ", team.world(i),
                           activity_of(*instance_, team.world(i)));
  }
  const auto end = fmt::format_to_n(text, size - 1, "team of {} PEs ({}{}), not there yet: {}",
                                    team.size(), members, team.size() > kNamed ? ", ..." : "",
                                    missing.empty() ? "nobody" : missing);
  *end.out = '\0';
}

void Teams::withdraw(uint32_t card, uint64_t id) {
  symm_team_card& mine = cards(instance_->pe())[card];
  if (id != 0 && mine.id == id) __atomic_store_n(&mine.id, uint64_t{0}, __ATOMIC_RELEASE);
  used_[card] = false;
}

// Whether that member needs this PE's card no longer.
bool Teams::done(Leftover& leftover, std::pair<int, uint32_t>& one) const {
  auto& [pe, slot] = one;
  if (acquire(page(pe).departed) != 0) return true;
  if (slot == Team::kUnseen) slot = find_card(pe, leftover.id, leftover.card);
  if (slot == Team::kUnseen) return false;
  const symm_team_card& card = cards(pe)[slot];
  const uint32_t state = acquire(card.state);
  return acquire(card.id) != leftover.id || state != SYMM_CARD_POSTED;
}

void Teams::retire(Team& team) {
  if (team.slot() < ACLSHMEM_MAX_TEAMS) {
    instance_->device().remove_team(team.number());
    table_[team.slot()].store(nullptr, std::memory_order_release);
  }
  Leftover left{team.id_, team.slot(), {}};
  for (int i = 0; team.id_ != 0 && i < team.size(); ++i) {
    std::pair<int, uint32_t> one{team.world(i), team.slots_[static_cast<size_t>(i)]};
    // Who refused has no card and looks for none.
    const bool absent = one.first == team.culprit_ && one.second == Team::kUnseen;
    if (i == team.me() || absent || done(left, one)) continue;
    left.waiting.push_back(one);
  }
  if (left.waiting.empty()) return withdraw(left.card, left.id);
  leftovers_.push_back(std::move(left));
}

void Teams::reap() {
  std::erase_if(leftovers_, [this](Leftover& left) {
    std::erase_if(left.waiting, [&](auto& one) { return done(left, one); });
    if (!left.waiting.empty()) return false;
    withdraw(left.card, left.id);
    return true;
  });
  std::erase_if(bound_, [this](const Bound& one) {
    const auto leader = static_cast<int>(one.id >> 48);
    if (acquire(cards(leader)[one.card].id) == one.id) return false;
    joined_.erase(one.id);
    return true;
  });
}

}  // namespace symm
