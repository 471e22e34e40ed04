// The part of Instance that meets the other PEs after init: memory calls, finalize, departure,
// descriptions.
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/config.h"
#include "base/log.h"
#include "base/scope_exit.h"
#include "base/trace.h"
#include "core/current.h"
#include "core/instance.h"
#include "core/sync.h"
#include "os/call_site.h"
#include "os/wait.h"

namespace symm {
namespace {

using Agreement = symm_control_page::symm_agreement;

std::string show_call(const Agreement& record) {
  const auto kind = static_cast<MemoryCall>(record.kind);
  switch (kind) {
    case MemoryCall::kMalloc:
      return fmt::format("{}({})", name_of(kind), record.value[0]);
    case MemoryCall::kCalloc:
      return fmt::format("{} of {} bytes", name_of(kind), record.value[0]);
    case MemoryCall::kAlign:
      return fmt::format("{}({}, {})", name_of(kind), record.value[1], record.value[0]);
    case MemoryCall::kFree:
      if (record.value[0] == MemoryRecord::kFailed) {
        return fmt::format("{} of an address outside the symmetric heap", name_of(kind));
      }
      return fmt::format("{} of the block at offset {}", name_of(kind), record.value[0]);
    case MemoryCall::kRealloc:
      return fmt::format("{} of the block at offset {} to {} bytes", name_of(kind), record.value[1],
                         record.value[0]);
    case MemoryCall::kMallocHints:
      return fmt::format("{}({}, {:#x})", name_of(kind), record.value[0], record.value[1]);
    case MemoryCall::kCreateHeap:
    case MemoryCall::kRegister:
      return fmt::format("{} of {} bytes", name_of(kind), record.value[0]);
    case MemoryCall::kDestroyHeap:
      return fmt::format("{} of heap {}", name_of(kind), record.value[0]);
    default:
      return name_of(kind);
  }
}

std::string show(const Agreement& record) {
  std::string text = show_call(record);
  if (record.value[2] == MemoryRecord::kRefused) text += " (refused: wrong arguments)";
  return text;
}

bool same(const Agreement& a, const Agreement& b) {
  return a.number == b.number && a.kind == b.kind &&
         std::memcmp(a.value, b.value, sizeof(a.value)) == 0;
}

}  // namespace

// Every PE writes what it asks for into its own control page, meets the others, and compares all
// pages. The two records are used in turn: the next call's record goes beside this one, and the
// call after that begins only when all have compared this one.
Status Instance::agree(const MemoryRecord& record) {
  std::lock_guard lock(agreement_mutex_);
  const uint64_t number = ++agreements_;
  Agreement& mine = route(pe_).control->agreement[number % 2];
  mine.number = number;
  mine.kind = static_cast<uint64_t>(record.kind);
  mine.value[0] = record.size;
  mine.value[1] = record.alignment;
  mine.value[2] = record.outcome;
  mine.value[3] = record.space;
  const Team& world = teams_.world();
  SYMM_TRY(run_barrier(
      *this, {name_of(record.kind), -1, kLibrarySlot, world.members(), n_pes_, pe_,
              static_cast<uint64_t>(options_.operation_timeout_s * 1000), SYMM_CALL_MEMORY}));
  const Agreement& first = route(0).control->agreement[number % 2];
  for (int pe = 1; pe < n_pes_; ++pe) {
    const Agreement& other = route(pe).control->agreement[number % 2];
    if (!same(first, other)) return differ(number, pe, record.site);
  }
  return {};
}

// Every PE has seen the same two records and comes here. What the places of the calls are called
// only this process can tell, so each writes its own and they meet once more.
Status Instance::differ(uint64_t number, int pe, const void* site) {
  Agreement& mine = route(pe_).control->agreement[number % 2];
  std::snprintf(mine.site, sizeof(mine.site), "%s", os::call_site(site).c_str());
  const Team& world = teams_.world();
  SYMM_TRY(
      run_barrier(*this, {"a memory call that differs", -1, kLibrarySlot, world.members(), n_pes_,
                          pe_, static_cast<uint64_t>(options_.operation_timeout_s * 1000)}));
  const Agreement& first = route(0).control->agreement[number % 2];
  const Agreement& other = route(pe).control->agreement[number % 2];
  const char* hint = first.kind == other.kind && first.value[0] == other.value[0] &&
                             first.value[2] != MemoryRecord::kRefused &&
                             other.value[2] != MemoryRecord::kRefused
                         ? "; the calls before were not the same on all PEs"
                         : "";
  auto place = [](const Agreement& record) {
    return std::string(record.site, strnlen(record.site, sizeof(record.site)));
  };
  return SYMM_ERROR(
      kInvalidParam,
      "collective memory call {} differs: PE 0 calls {} at {}, PE {} calls {} at {}{}", number,
      show(first), place(first), pe, show(other), place(other), hint);
}

Status Instance::report_leaks() const {
  const std::string level = config::text("SHMEM_LEAK_REPORT");
  if (level == "off" || heap_ == nullptr) return {};
  std::vector<std::string> lines = spaces_->leaks();
  if (const std::string left = heap_->leaks(); !left.empty()) lines.push_back("heap: " + left);
  std::string all;
  for (const std::string& line : lines) all += (all.empty() ? "" : "; ") + line;
  if (all.empty()) return {};
  if (level == "error") return SYMM_ERROR(kInternal, "symmetric memory was not freed: {}", all);
  SYMM_LOG(kWarn, "finalize: symmetric memory was not freed: {}", all);
  return {};
}

Status Instance::quiesce() {
  SYMM_TRY(stream_.drain());
  return quiesce_engines();
}

Status Instance::quiesce_engines() {
  for (dma::Engine* engine : {rdma_.get(), sdma_.get(), udma_.get()}) {
    if (engine != nullptr) SYMM_TRY(engine->quiesce());
  }
  return {};
}

Status Instance::close() {
  closed_ = true;
  if (left_) {
    tear_down();
    return SYMM_ERROR(kBootstrap, "finalize: PE {} has left the job before", pe_);
  }
  Status first = quiesce();
  if (Status leaks = report_leaks(); first.ok()) first = std::move(leaks);
  // The others must not come to harm: nobody takes memory away before all have arrived.
  Status met = agree({MemoryCall::kFinalize, 0, 0, 0, 0});
  const bool late = met.code() == Code::kTimeout;
  if (first.ok()) first = std::move(met);
  depart(SYMM_DEPARTED_FINALIZED);
  // Nor may PE 0 take the server away while others still need it. Who did not come in time to the
  // first meeting is not waited for again.
  if (late) {
    control_->hurry();
  } else {
    Status ended = health_.lost() ? health_.check() : control_->barrier("end of finalize");
    ended_together_ = ended.ok();
    if (first.ok()) first = std::move(ended);
  }
  tear_down();
  return std::move(first).with_context("finalize");
}

Status Instance::global_exit(int status) {
  announce_exit(status);
  return control_->global_exit(status);
}

void Instance::depart(uint32_t how) {
  if (!mapped_.load(std::memory_order_acquire)) return;
  if (const int lost = health_.lost_pe(); lost >= 0) {
    // release: visible before the mark of departure
    __atomic_store_n(&route(pe_).control->lost, static_cast<uint32_t>(lost) + 1, __ATOMIC_RELEASE);
  }
  uint32_t expected = 0;
  // release: what this PE did before is visible to who sees the mark; only the first mark counts
  if (!__atomic_compare_exchange_n(&route(pe_).control->departed, &expected, how, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return;
  }
  for (const Route& route : routes_) {
    __atomic_fetch_add(&route.control->departures, 1u, __ATOMIC_SEQ_CST);
    os::notify_after_rmw(route.control->events);
  }
}

void Instance::in_forked_child() {
  if (control_) control_->in_forked_child();
}

void Instance::leave_at_exit() {
  left_ = true;
  finish_trace();
  depart(SYMM_DEPARTED_EXIT);
  if (control_) control_->close();
}

void Instance::finish_trace() {
  if (!std::exchange(traced_, false)) return;
  const Status status = trace::finish();
  if (!status.ok()) SYMM_LOG(kError, "{}", status.to_string());
}

void Instance::tear_down() {
  forget_exit_of(this);
  stream_.close();
  link_->cut();
  rdma_.reset();
  sdma_.reset();
  udma_.reset();
  finish_trace();
  // No event arrives after this, so nothing touches the page that goes away with the memory.
  if (control_) control_->close();
  health_.set_events(nullptr);
  // Without a common end, PEs that are threads of this process may still look at
  // this PE's pages.
  bool shared = false;
  for (int pe = 0; memory_ && pe < static_cast<int>(routes_.size()); ++pe) {
    shared = shared || (pe != pe_ && routes_[static_cast<size_t>(pe)].same_process);
  }
  if (spaces_) spaces_->close(!ended_together_ && shared);
  if (!ended_together_ && shared) keep_mapped(std::move(memory_));
  memory_.reset();
  status_ = ACLSHMEM_STATUS_NOT_INITIALIZED;
}

Instance::~Instance() {
  if (!closed_) depart(SYMM_DEPARTED_EXIT);
  tear_down();
}

void Instance::describe(const symm_wait& wait, char* text, size_t size) const {
  if (wait.kind == SYMM_WAIT_KIND_SPLIT) return teams_.describe(wait, text, size);
  if (wait.kind == SYMM_WAIT_KIND_BARRIER) {
    const Team* team = wait.team < 0 ? &teams_.world() : teams_.find(wait.team);
    if (team != nullptr) {
      const uint32_t slot = wait.team < 0 ? kLibrarySlot : team->slot();
      describe_missing(*this, team->members(), team->size(), slot,
                       wait.team < 0 ? nullptr : team->slots(), static_cast<uint64_t>(wait.wanted),
                       text, size);
      return;
    }
  }
  std::string words;
  if (wait.team >= 0) words += fmt::format("team {}, ", wait.team);
  if (wait.peer >= 0) words += fmt::format("for PE {}, ", wait.peer);
  if (wait.address != nullptr) {
    static constexpr const char* kNames[] = {"==", "!=", ">", ">=", "<", "<="};
    const bool known = wait.compare >= 0 && wait.compare < 6;
    words += fmt::format("until {} at {} {} {}", "the value", wait.address,
                         known ? kNames[wait.compare] : "becomes", wait.wanted);
  }
  const auto end = fmt::format_to_n(text, size - 1, "{}", words);
  *end.out = '\0';
}

}  // namespace symm
