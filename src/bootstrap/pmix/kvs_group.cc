#include "bootstrap/pmix/kvs_group.h"

#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bootstrap/edge.h"

namespace symm::bootstrap {
namespace {

constexpr uint32_t kBarrier = 0;
constexpr uint32_t kAllgather = 1;
constexpr size_t kMaxBytes = size_t{1} << 20;

// In front of what a PE brings to a step.
struct StepHead {
  uint64_t bytes;
  uint32_t kind;
  char what[44];
};

struct Claim {
  int32_t pe;
  int32_t n_pes;
  int32_t random_failed;
  uint8_t key[32];
};

std::string describe(const StepHead& head) {
  std::string_view what(head.what, ::strnlen(head.what, sizeof(head.what)));
  if (head.kind == kBarrier) return fmt::format("barrier '{}'", what);
  return fmt::format("allgather '{}' of {} bytes", what, head.bytes);
}

}  // namespace

Result<std::unique_ptr<KvsGroup>> KvsGroup::open(std::shared_ptr<KvsClient> client, uint64_t serial,
                                                 symm_bootstrap_config& config) {
  std::unique_ptr<KvsGroup> group(
      new KvsGroup(std::move(client), serial, config.connect_timeout_s));
  SYMM_TRY(group->compare_claims(config));
  group->limit_s_ = config.operation_timeout_s;
  config.pe = group->client_->pe();
  config.n_pes = group->client_->n_pes();
  return group;
}

Status KvsGroup::compare_claims(const symm_bootstrap_config& config) {
  Claim mine{config.pe, config.n_pes, 0, {}};
  mine.random_failed = ::getrandom(mine.key, sizeof(mine.key), 0) == sizeof(mine.key) ? 0 : 1;
  int n_pes = client_->n_pes();
  std::vector<Claim> all(static_cast<size_t>(n_pes));
  SYMM_TRY(allgather(&mine, sizeof(mine), all.data(), "compare attributes"));
  for (int pe = 0; pe < n_pes; ++pe) {
    const Claim& claim = all[pe];
    bool given = claim.pe >= 0 && claim.n_pes > 0;
    if (!given || (claim.pe == pe && claim.n_pes == n_pes)) continue;
    return SYMM_ERROR(kInvalidParam,
                      "attributes differ from the launcher's {} PEs: PE {} says my_pe {} of n_pes "
                      "{}; use the launcher's numbers, or leave my_pe at -1 and n_pes at 0",
                      n_pes, pe, claim.pe, claim.n_pes);
  }
  if (all[0].random_failed != 0) {
    return SYMM_ERROR(kInternal, "PE 0 has no random bytes for the key of the job");
  }
  std::memcpy(key_, all[0].key, sizeof(key_));
  return {};
}

std::string KvsGroup::key(size_t part) const {
  return fmt::format("shmem.{}.{}.{}", serial_, steps_, part);
}

Status KvsGroup::put_row(const std::string& row) {
  size_t limit = client_->value_limit();
  for (size_t part = 0; part * limit < row.size(); ++part) {
    SYMM_TRY(client_->put(key(part), row.substr(part * limit, limit)));
  }
  return {};
}

Result<std::string> KvsGroup::get_row(int pe, size_t bytes, Deadline deadline) {
  std::string row;
  for (size_t part = 0; row.size() < bytes; ++part) {
    SYMM_ASSIGN(std::string piece, client_->get(pe, key(part), deadline));
    if (piece.empty()) return SYMM_ERROR(kBootstrap, "PE {} left an empty value", pe);
    row += piece;
    // The head comes first and tells the real size; a longer or shorter row is a mismatch.
    StepHead head;
    if (part > 0 || row.size() < sizeof(head)) continue;
    std::memcpy(&head, row.data(), sizeof(head));
    if (sizeof(head) + head.bytes != bytes) break;
  }
  return row;
}

Status KvsGroup::step(uint32_t kind, const void* in, size_t bytes, void* out, const char* what) {
  if (!broken_.empty()) {
    return SYMM_ERROR(kBootstrap, "{}: an earlier step failed: {}", what, broken_);
  }
  if (bytes > kMaxBytes) {
    return SYMM_ERROR(kInvalidValue, "{}: {} bytes from each PE is more than {}", what, bytes,
                      kMaxBytes);
  }
  ++steps_;
  StepHead mine{bytes, kind, {}};
  copy_text(what, mine.what, sizeof(mine.what));
  std::string row(reinterpret_cast<const char*>(&mine), sizeof(mine));
  if (bytes > 0) row.append(static_cast<const char*>(in), bytes);
  Deadline deadline = Deadline::after_seconds(limit_s_);
  SYMM_TRY(put_row(row));
  Status fenced = client_->fence(deadline);
  if (!fenced.ok()) {
    broken_ = fenced.code() == Code::kSmem
                  ? fmt::format("time limit of {:g} s of PE {} is over: {}", limit_s_,
                                client_->pe(), client_->missing(key(0)))
                  : std::string(fenced.text());
    return Status(fenced.code(), fmt::format("{}: {}", what, broken_), __FILE__, __LINE__);
  }
  for (int pe = 0; pe < client_->n_pes(); ++pe) {
    SYMM_ASSIGN(std::string theirs, get_row(pe, row.size(), deadline));
    if (theirs.size() < sizeof(mine)) return SYMM_ERROR(kBootstrap, "PE {}: short value", pe);
    StepHead head;
    std::memcpy(&head, theirs.data(), sizeof(head));
    if (std::memcmp(&head, &mine, sizeof(head)) != 0 || theirs.size() != row.size()) {
      return SYMM_ERROR(kInternal,
                        "collective mismatch: PE {} is in {} while PE {} is in {}; all PEs must "
                        "make the same calls in the same order",
                        pe, describe(head), client_->pe(), describe(mine));
    }
    if (bytes == 0) continue;
    std::memcpy(static_cast<char*>(out) + static_cast<size_t>(pe) * bytes,
                theirs.data() + sizeof(mine), bytes);
  }
  return {};
}

Status KvsGroup::allgather(const void* in, size_t bytes, void* out, const char* what) {
  return step(kAllgather, in, bytes, out, what);
}

Status KvsGroup::barrier(const char* what) { return step(kBarrier, nullptr, 0, nullptr, what); }

Status KvsGroup::job_key(uint8_t key[32]) const {
  std::memcpy(key, key_, sizeof(key_));
  return {};
}

}  // namespace symm::bootstrap
