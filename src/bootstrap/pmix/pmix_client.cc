#include "bootstrap/pmix/pmix_client.h"

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <vector>

#include "store/rounds.h"

namespace symm::bootstrap {
namespace {

constexpr uint32_t kMaxPes = 16384;
constexpr size_t kValueLimit = size_t{1} << 20;
// With more PEs nobody asks after each of them when one is missing.
constexpr int kMaxAsked = 64;

Status pmix_status(pmix_status_t code, const char* call) {
  if (code == PMIX_SUCCESS) return {};
  return SYMM_ERROR(kBootstrap, "{} failed: {}", call, PMIx_Error_string(code));
}

// The result of one call that PMIx completes from its thread. Kept alive by both sides, since the
// answer may come after we stopped waiting.
struct Completion {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  pmix_status_t code = PMIX_SUCCESS;
  std::string value;

  void finish(pmix_status_t status, std::string bytes) {
    std::lock_guard lock(mutex);
    done = true;
    code = status;
    value = std::move(bytes);
    changed.notify_all();
  }
  // False when the time is over first.
  bool wait(Deadline deadline) {
    std::unique_lock lock(mutex);
    if (deadline.is_never()) {
      changed.wait(lock, [&] { return done; });
      return true;
    }
    return changed.wait_until(lock, deadline.at(), [&] { return done; });
  }
};

using Shared = std::shared_ptr<Completion>;

std::unique_ptr<Shared> take(void* data) {
  return std::unique_ptr<Shared>(static_cast<Shared*>(data));
}

void on_done(pmix_status_t status, void* data) { (*take(data))->finish(status, ""); }

void on_value(pmix_status_t status, pmix_value_t* value, void* data) {
  std::string bytes;
  if (status == PMIX_SUCCESS && value != nullptr && value->type == PMIX_BYTE_OBJECT) {
    bytes.assign(value->data.bo.bytes, value->data.bo.size);
  }
  (*take(data))->finish(status, std::move(bytes));
}

}  // namespace

Result<std::shared_ptr<PmixClient>> PmixClient::open() {
  std::shared_ptr<PmixClient> client(new PmixClient());
  pmix_proc_t self;
  pmix_status_t code = PMIx_Init(&self, nullptr, 0);
  if (code != PMIX_SUCCESS) {
    return SYMM_ERROR(kBootstrap,
                      "PMIx_Init failed: {}; is this process started by mpirun, prterun or srun "
                      "--mpi=pmix?",
                      PMIx_Error_string(code));
  }
  client->self_ = self;
  client->n_pes_ = 1;
  pmix_proc_t job = client->of(0);
  job.rank = PMIX_RANK_WILDCARD;
  pmix_value_t* size = nullptr;
  SYMM_TRY(pmix_status(PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &size), "PMIx_Get(job size)"));
  uint32_t count = size->type == PMIX_UINT32 ? size->data.uint32 : 0;
  PMIX_VALUE_RELEASE(size);
  if (count < 1 || count > kMaxPes || self.rank >= count) {
    return SYMM_ERROR(kBootstrap, "PMIx says that this is process {} of {}; at most {} can be",
                      self.rank, count, kMaxPes);
  }
  client->n_pes_ = static_cast<int>(count);
  return client;
}

PmixClient::~PmixClient() {
  if (n_pes_ > 0) PMIx_Finalize(nullptr, 0);
}

size_t PmixClient::value_limit() const { return kValueLimit; }

pmix_proc_t PmixClient::of(int pe) const {
  pmix_proc_t process;
  PMIX_LOAD_PROCID(&process, self_.nspace, static_cast<pmix_rank_t>(pe));
  return process;
}

Status PmixClient::put(const std::string& key, const std::string& value) {
  pmix_value_t held = {};
  held.type = PMIX_BYTE_OBJECT;
  held.data.bo.bytes = const_cast<char*>(value.data());
  held.data.bo.size = value.size();
  SYMM_TRY(pmix_status(PMIx_Put(PMIX_GLOBAL, key.c_str(), &held), "PMIx_Put"));
  return pmix_status(PMIx_Commit(), "PMIx_Commit");
}

Status PmixClient::fence(Deadline deadline) {
  auto done = std::make_shared<Completion>();
  pmix_info_t collect;
  bool yes = true;
  PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  auto* data = new Shared(done);
  pmix_status_t code = PMIx_Fence_nb(nullptr, 0, &collect, 1, on_done, data);
  if (code != PMIX_SUCCESS) take(data);
  SYMM_TRY(pmix_status(code, "PMIx_Fence"));
  if (!done->wait(deadline)) return SYMM_ERROR(kSmem, "PMIx_Fence is not complete in time");
  return pmix_status(done->code, "PMIx_Fence");
}

Result<std::string> PmixClient::get(int pe, const std::string& key, Deadline deadline) {
  auto done = std::make_shared<Completion>();
  pmix_proc_t from = of(pe);
  auto* data = new Shared(done);
  pmix_status_t code = PMIx_Get_nb(&from, key.c_str(), nullptr, 0, on_value, data);
  if (code != PMIX_SUCCESS) take(data);
  SYMM_TRY(pmix_status(code, "PMIx_Get"));
  if (!done->wait(deadline)) {
    return SYMM_ERROR(kSmem, "PMIx_Get of a value of PE {} is not complete in time", pe);
  }
  SYMM_TRY(pmix_status(done->code, "PMIx_Get"));
  return done->value;
}

// Whoever has put the key of this step has arrived. A server answers for its own processes at once
// and asks the others' servers.
std::string PmixClient::missing(const std::string& key) {
  if (n_pes_ > kMaxAsked) return "some PEs did not arrive";
  std::vector<Shared> answers;
  for (int pe = 0; pe < n_pes_; ++pe) {
    auto done = answers.emplace_back(std::make_shared<Completion>());
    pmix_proc_t from = of(pe);
    auto* data = new Shared(done);
    pmix_status_t code = PMIx_Get_nb(&from, key.c_str(), nullptr, 0, on_value, data);
    if (code != PMIX_SUCCESS) (*take(data))->finish(code, "");
  }
  std::vector<int> absent;
  Deadline deadline = Deadline::after_seconds(1);
  for (int pe = 0; pe < n_pes_; ++pe) {
    bool here = answers[pe]->wait(deadline) && answers[pe]->code == PMIX_SUCCESS;
    if (!here) absent.push_back(pe);
  }
  if (absent.empty()) return "all PEs arrived, but some came too late";
  return store::format_pes(absent) + " did not arrive";
}

Status PmixClient::abort(int status) {
  std::fflush(nullptr);
  return pmix_status(PMIx_Abort(status, "global exit", nullptr, 0), "PMIx_Abort");
}

std::string PmixClient::describe() const {
  return fmt::format("PMIx ({}), {} PEs; not encrypted by SHMEM", PMIx_Get_version(), n_pes_);
}

}  // namespace symm::bootstrap
