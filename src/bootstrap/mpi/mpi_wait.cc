#include "bootstrap/mpi/mpi_wait.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/deadline.h"
#include "store/rounds.h"

namespace symm::bootstrap {
namespace {

// How long one waits for the answers of the others after the time is over. They poll at least
// every millisecond, so this is scheduling slack.
constexpr std::chrono::milliseconds kGrace(2000);
// With more PEs only these first ones learn who is missing; the others point to them.
constexpr int kInformed = 64;

// MPI offers no wait with a time limit: poll, first yielding, then sleeping longer and longer.
class Backoff {
 public:
  void pause() {
    if (++rounds_ < kYields) {
      std::this_thread::yield();
      return;
    }
    std::this_thread::sleep_for(nap_);
    nap_ = std::min(nap_ * 2, std::chrono::microseconds(1000));
  }
  bool idle() const { return rounds_ >= kYields; }

 private:
  static constexpr int kYields = 200;
  int rounds_ = 0;
  std::chrono::microseconds nap_{20};
};

// Takes one message of a PE that gave up; -1 when there is none.
Status poll_notice(const MpiWait& wait, int& source) {
  auto lock = MpiWorld::get().lock();
  int flag = 0;
  MPI_Status status;
  source = -1;
  SYMM_TRY(
      mpi_status(MPI_Iprobe(MPI_ANY_SOURCE, wait.tag, wait.comm, &flag, &status), "MPI_Iprobe"));
  if (flag == 0) return {};
  source = status.MPI_SOURCE;
  return mpi_status(MPI_Recv(nullptr, 0, MPI_BYTE, source, wait.tag, wait.comm, MPI_STATUS_IGNORE),
                    "MPI_Recv");
}

Status send_notices(const MpiWait& wait) {
  for (int peer = 0; peer < std::min(wait.n_pes, kInformed); ++peer) {
    if (peer == wait.pe) continue;
    auto lock = MpiWorld::get().lock();
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Isend(nullptr, 0, MPI_BYTE, peer, wait.tag, wait.comm, &request);
    SYMM_TRY(mpi_status(code, "MPI_Isend"));
    // Nobody needs to know when it is done; the missing ones may never take it.
    MPI_Request_free(&request);
  }
  return {};
}

std::string missing_text(const MpiWait& wait, const std::vector<bool>& here) {
  if (wait.pe >= kInformed) return "see the message of PE 0 for the PEs that are missing";
  std::vector<int> missing;
  for (int pe = 0; pe < wait.n_pes; ++pe) {
    if (!here[pe]) missing.push_back(pe);
  }
  if (missing.empty()) return "all PEs are alive, but some came too late";
  return store::format_pes(missing) + " did not arrive";
}

// Tells the others, hears them, and says who is missing. `first` gave up before us, or is -1.
Status give_up(const MpiWait& wait, int first) {
  std::vector<bool> here(static_cast<size_t>(wait.n_pes), false);
  here[wait.pe] = true;
  if (first >= 0) here[first] = true;
  SYMM_TRY(send_notices(wait));
  Deadline deadline = Deadline::after(kGrace);
  Backoff backoff;
  while (!deadline.expired() && std::find(here.begin(), here.end(), false) != here.end()) {
    int source = -1;
    SYMM_TRY(poll_notice(wait, source));
    if (source >= 0) {
      here[source] = true;
    } else {
      backoff.pause();
    }
  }
  std::string whose =
      first >= 0 ? fmt::format("the time limit of PE {} is over", first)
                 : fmt::format("time limit of {:g} s of PE {} is over", wait.limit_s, wait.pe);
  return SYMM_ERROR(kSmem, "{}: {}: {}", wait.what, whose, missing_text(wait, here));
}

Status wait_for(MpiPending& pending, const MpiWait& wait) {
  Deadline deadline = Deadline::after_seconds(wait.limit_s);
  Backoff backoff;
  // Once at the start: what others brought before they gave up may complete the operation here.
  for (bool look = true;; look = backoff.idle()) {
    if (look) {
      int source = -1;
      SYMM_TRY(poll_notice(wait, source));
      if (source >= 0) return give_up(wait, source);
    }
    {
      auto lock = MpiWorld::get().lock();
      int done = 0;
      SYMM_TRY(mpi_status(MPI_Test(&pending.request, &done, MPI_STATUS_IGNORE), wait.what));
      if (done != 0) return {};
    }
    if (deadline.expired()) return give_up(wait, -1);
    backoff.pause();
  }
}

}  // namespace

Status finish(std::unique_ptr<MpiPending>& pending, const MpiWait& wait) {
  Status status = wait_for(*pending, wait);
  if (!status.ok()) {
    MpiWorld::get().abandon(std::move(pending), std::string(status.text()));
  }
  return status;
}

}  // namespace symm::bootstrap
