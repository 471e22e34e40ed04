#include "bootstrap/mpi/mpi_group.h"

#include <sys/random.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/log.h"
#include "bootstrap/edge.h"
#include "bootstrap/loader.h"
#include "bootstrap/rendezvous.h"
#include "store/rounds.h"

namespace symm::bootstrap {
namespace {

constexpr int kMaxPes = 16384;
// On the user's communicator, and only when opening ran into its time limit.
constexpr int kOpenTag = 32011;
constexpr int kStepTag = 1;
constexpr size_t kMaxResult = size_t{64} << 20;

constexpr uint32_t kBarrier = 0;
constexpr uint32_t kAllgather = 1;

// The row that every PE shows before a step.
struct StepRow {
  uint64_t number;
  uint64_t bytes;
  uint32_t kind;
  char what[44];
};

// The row that every PE shows when the group opens.
struct ClaimRow {
  int32_t pe;
  int32_t n_pes;
  int32_t random_failed;
  uint8_t key[32];
  char trouble[148];
};

std::string describe(const StepRow& row) {
  std::string_view what(row.what, ::strnlen(row.what, sizeof(row.what)));
  if (row.kind == kBarrier) return fmt::format("step {}, barrier '{}'", row.number, what);
  return fmt::format("step {}, allgather '{}' of {} bytes", row.number, what, row.bytes);
}

bool same(const StepRow& a, const StepRow& b) {
  return a.number == b.number && a.bytes == b.bytes && a.kind == b.kind &&
         std::memcmp(a.what, b.what, sizeof(a.what)) == 0;
}

Status to_status(int code, const char* text) {
  if (code == 0) return {};
  return Status(static_cast<Code>(code), text, __FILE__, __LINE__);
}

const char* keep(const char* text, std::string& copy) {
  if (text == nullptr) return nullptr;
  copy = text;
  return copy.c_str();
}

}  // namespace

MpiGroup::MpiGroup(const symm_bootstrap_config& config) : config_(config) {
  config_.tls.info = keep(config.tls.info, tls_texts_[0]);
  config_.tls.private_key = keep(config.tls.private_key, tls_texts_[1]);
  config_.tls.key_password = keep(config.tls.key_password, tls_texts_[2]);
  config_.comm_args = nullptr;
  config_.address = nullptr;
}

Result<std::unique_ptr<MpiGroup>> MpiGroup::open(symm_bootstrap_config& config) {
  std::unique_ptr<MpiGroup> group(new MpiGroup(config));
  SYMM_TRY(group->connect(config));
  return group;
}

Status MpiGroup::refuse(const symm_bootstrap_config& config, const char* why) {
  // MPI is not started for this: it could not be started again.
  int started = 0;
  if (MPI_Initialized(&started) != MPI_SUCCESS || started == 0 || MpiWorld::finalized()) return {};
  constexpr double kPatience_s = 10;
  symm_bootstrap_config patient = config;
  if (patient.connect_timeout_s <= 0 || patient.connect_timeout_s > kPatience_s) {
    patient.connect_timeout_s = kPatience_s;
  }
  patient.operation_timeout_s = patient.connect_timeout_s;
  MpiGroup group(patient);
  group.trouble_ = why;
  return group.connect(patient);
}

void MpiGroup::hurry() {
  if (successor_ && successor_->table->hurry != nullptr) {
    successor_->table->hurry(successor_->handle);
  }
}

void MpiGroup::in_forked_child() {
  if (successor_ && successor_->table->forked != nullptr) {
    successor_->table->forked(successor_->handle);
  }
}

Status MpiGroup::connect(symm_bootstrap_config& config) {
  MpiWorld& world = MpiWorld::get();
  SYMM_TRY(world.acquire());
  acquired_ = true;
  SYMM_TRY(world.check_call());
  MPI_Comm from =
      config.comm_args != nullptr ? *static_cast<MPI_Comm*>(config.comm_args) : MPI_COMM_WORLD;
  if (from == MPI_COMM_NULL) {
    return SYMM_ERROR(kInvalidParam,
                      "comm_args points to MPI_COMM_NULL: this process is not in "
                      "the communicator and must not call init with it");
  }
  int inter = 0;
  {
    auto lock = world.lock();
    SYMM_TRY(mpi_status(MPI_Comm_test_inter(from, &inter), "MPI_Comm_test_inter"));
    SYMM_TRY(mpi_status(MPI_Comm_rank(from, &pe_), "MPI_Comm_rank"));
    SYMM_TRY(mpi_status(MPI_Comm_size(from, &n_pes_), "MPI_Comm_size"));
  }
  if (inter != 0) {
    return SYMM_ERROR(kInvalidParam,
                      "comm_args is an inter-communicator; merge it first "
                      "(MPI_Intercomm_merge)");
  }
  if (n_pes_ > kMaxPes) {
    return SYMM_ERROR(kInvalidValue, "the communicator has {} processes, at most {} PEs can be",
                      n_pes_, kMaxPes);
  }
  SYMM_TRY(duplicate(from));
  SYMM_TRY(compare_claims(config));
  config.pe = config_.pe = pe_;
  config.n_pes = config_.n_pes = n_pes_;
  return hook_finalize();
}

MpiWait MpiGroup::wait_on(MPI_Comm comm, int tag, double limit_s, const char* what) const {
  return {comm, tag, pe_, n_pes_, limit_s, what};
}

Status MpiGroup::duplicate(MPI_Comm from) {
  auto pending = std::make_unique<MpiPending>();
  {
    auto lock = MpiWorld::get().lock();
    int code = MPI_Comm_idup(from, &pending->created, &pending->request);
    SYMM_TRY(mpi_status(code, "MPI_Comm_idup"));
  }
  SYMM_TRY(finish(pending, wait_on(from, kOpenTag, config_.connect_timeout_s, "open over MPI")));
  comm_ = pending->created;
  auto lock = MpiWorld::get().lock();
  return mpi_status(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Status MpiGroup::gather(const void* in, size_t bytes, void* out, const char* what) {
  auto pending = std::make_unique<MpiPending>();
  const auto* begin = static_cast<const unsigned char*>(in);
  pending->in.assign(begin, begin + bytes);
  pending->out.resize(bytes * static_cast<size_t>(n_pes_));
  {
    auto lock = MpiWorld::get().lock();
    int count = static_cast<int>(bytes);
    int code = MPI_Iallgather(pending->in.data(), count, MPI_BYTE, pending->out.data(), count,
                              MPI_BYTE, comm_, &pending->request);
    SYMM_TRY(mpi_status(code, "MPI_Iallgather"));
  }
  Status status = finish(pending, wait_on(comm_, kStepTag, config_.operation_timeout_s, what));
  if (!status.ok()) {
    broken_ = status.text();
    return status;
  }
  if (!pending->out.empty()) std::memcpy(out, pending->out.data(), pending->out.size());
  return {};
}

Status MpiGroup::compare_claims(const symm_bootstrap_config& config) {
  ClaimRow mine{config.pe, config.n_pes, 0, {}, {}};
  trouble_.copy(mine.trouble, sizeof(mine.trouble) - 1);
  mine.random_failed = ::getrandom(mine.key, sizeof(mine.key), 0) == sizeof(mine.key) ? 0 : 1;
  std::vector<ClaimRow> all(static_cast<size_t>(n_pes_));
  SYMM_TRY(gather(&mine, sizeof(mine), all.data(), "compare attributes"));
  for (int rank = 0; rank < n_pes_; ++rank) {
    ClaimRow& row = all[static_cast<size_t>(rank)];
    row.trouble[sizeof(row.trouble) - 1] = '\0';
    if (row.trouble[0] == '\0') continue;
    return SYMM_ERROR(kInternal, "PE {} cannot take part: {}", rank, row.trouble);
  }
  std::string differences;
  int count = 0;
  for (int rank = 0; rank < n_pes_; ++rank) {
    const ClaimRow& row = all[rank];
    bool given = row.pe >= 0 && row.n_pes > 0;
    if (!given || (row.pe == rank && row.n_pes == n_pes_)) continue;
    if (++count > 8) continue;
    differences += fmt::format("; rank {} says my_pe {} of n_pes {}", rank, row.pe, row.n_pes);
  }
  if (count > 8) differences += fmt::format("; and {} more", count - 8);
  if (count > 0) {
    return SYMM_ERROR(kInvalidParam,
                      "attributes differ from the communicator of {} processes{}; use its rank and "
                      "size, or leave my_pe at -1 and n_pes at 0",
                      n_pes_, differences);
  }
  if (all[0].random_failed != 0) {
    return SYMM_ERROR(kInternal, "PE 0 has no random bytes for the key of the job");
  }
  std::memcpy(key_, all[0].key, sizeof(key_));
  return {};
}

Status MpiGroup::begin_step(uint32_t kind, const char* what, size_t bytes) {
  if (!broken_.empty()) {
    return SYMM_ERROR(kBootstrap, "{}: an earlier step failed: {}", what, broken_);
  }
  SYMM_TRY(MpiWorld::get().check_call());
  StepRow mine{++steps_, bytes, kind, {}};
  copy_text(what, mine.what, sizeof(mine.what));
  std::vector<StepRow> all(static_cast<size_t>(n_pes_));
  SYMM_TRY(gather(&mine, sizeof(mine), all.data(), what));
  for (int pe = 1; pe < n_pes_; ++pe) {
    if (same(all[0], all[pe])) continue;
    return SYMM_ERROR(kInternal,
                      "collective mismatch: PE {} is in {} while PE 0 is in {}; all PEs must make "
                      "the same calls in the same order",
                      pe, describe(all[pe]), describe(all[0]));
  }
  if (bytes > kMaxResult / static_cast<size_t>(n_pes_)) {
    return SYMM_ERROR(kInvalidValue,
                      "{}: {} bytes from each of {} PEs is more than {} bytes in all", what, bytes,
                      n_pes_, kMaxResult);
  }
  return {};
}

Status MpiGroup::allgather(const void* in, size_t bytes, void* out, const char* what) {
  if (successor_) {
    char error[512] = "";
    int code = successor_->table->allgather(successor_->handle, in, bytes, out, what, error,
                                            sizeof(error));
    return to_status(code, error);
  }
  SYMM_TRY(begin_step(kAllgather, what, bytes));
  return gather(in, bytes, out, what);
}

Status MpiGroup::barrier(const char* what) {
  if (successor_) {
    char error[512] = "";
    int code = successor_->table->barrier(successor_->handle, what, error, sizeof(error));
    return to_status(code, error);
  }
  return begin_step(kBarrier, what, 0);
}

Status MpiGroup::abort(int status) {
  if (successor_) {
    char error[512] = "";
    int code = successor_->table->global_exit(successor_->handle, status, error, sizeof(error));
    return to_status(code, error);
  }
  if (MpiWorld::finalized()) {
    return SYMM_ERROR(kBootstrap, "global exit: MPI was finalized and no other way is left");
  }
  // MPI_Abort ends this process without the usual flush.
  std::fflush(nullptr);
  return mpi_status(MPI_Abort(MPI_COMM_WORLD, status), "MPI_Abort");
}

std::string MpiGroup::info() {
  if (successor_) {
    char text[512] = "";
    successor_->table->info(successor_->handle, text, sizeof(text));
    return fmt::format("{} (MPI was finalized)", text);
  }
  return fmt::format("MPI communicator of {} processes ({}); not encrypted by SHMEM", n_pes_,
                     MpiWorld::get().describe());
}

Status MpiGroup::job_key(uint8_t key[32]) const {
  std::memcpy(key, key_, sizeof(key_));
  return {};
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while everything still works.
Status MpiGroup::hook_finalize() {
  auto lock = MpiWorld::get().lock();
  int code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &on_finalize, &keyval_, nullptr);
  SYMM_TRY(mpi_status(code, "MPI_Comm_create_keyval"));
  return mpi_status(MPI_Comm_set_attr(MPI_COMM_SELF, keyval_, this), "MPI_Comm_set_attr");
}

void MpiGroup::unhook() {
  if (keyval_ == MPI_KEYVAL_INVALID) return;
  auto lock = MpiWorld::get().lock();
  MPI_Comm_delete_attr(MPI_COMM_SELF, keyval_);
  MPI_Comm_free_keyval(&keyval_);
}

int MpiGroup::on_finalize(MPI_Comm, int, void* value, void*) {
  auto* self = static_cast<MpiGroup*>(value);
  if (self->closing_) return MPI_SUCCESS;
  char error[512] = "";
  if (at_edge(error, sizeof(error), [&] { return self->hand_over(); }) != 0) {
    self->broken_ = fmt::format(
        "MPI was finalized first, and the move to the config store failed: "
        "{}",
        error);
    SYMM_LOG(kWarn, "{}", self->broken_);
  }
  return MPI_SUCCESS;
}

Status MpiGroup::hand_over() {
  if (!broken_.empty()) return {};
  auto loaded = load_plugin(kConfigStorePlugin);
  // Also without a store of its own a PE must take part, or the others would wait for it.
  int32_t mine = static_cast<int32_t>(loaded.status().code());
  std::vector<int32_t> all(static_cast<size_t>(n_pes_));
  SYMM_TRY(allgather(&mine, sizeof(mine), all.data(), "MPI_Finalize"));
  SYMM_TRY(std::move(loaded.status()));
  auto bad = std::find_if(all.begin(), all.end(), [](int32_t code) { return code != 0; });
  if (bad != all.end()) {
    return SYMM_ERROR(kBootstrap, "PE {} cannot load {}", bad - all.begin(), kConfigStorePlugin);
  }
  auto exchange = [&](const void* in, size_t bytes, void* out) {
    return allgather(in, bytes, out, "move to the config store");
  };
  auto handle = open_store_through(exchange, *loaded.value(), config_);
  SYMM_TRY(std::move(handle.status()));
  successor_ = Successor{loaded.value(), handle.value()};
  return {};
}

MpiGroup::~MpiGroup() {
  closing_ = true;
  if (successor_) successor_->table->close(successor_->handle);
  if (!acquired_) return;
  if (!MpiWorld::finalized()) {
    unhook();
    auto lock = MpiWorld::get().lock();
    // A broken group still has an operation in flight, which may use the communicator.
    if (comm_ != MPI_COMM_NULL && broken_.empty()) MPI_Comm_free(&comm_);
  }
  MpiWorld::get().release();
}

}  // namespace symm::bootstrap
