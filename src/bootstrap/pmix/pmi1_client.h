// Pmi1Client: the text protocol PMI-1 on an inherited socket (MPICH hydra, srun --mpi=pmi2).
// One line a request, one line an answer. Threads: one at a time (guarded inside), abort() any.
// Ownership: the socket belongs to the process, which may share it with an MPI library; it is
// never closed here, and the goodbye is said only if it is still the same socket.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "bootstrap/pmix/kvs_client.h"

namespace symm::bootstrap {

// One line of the protocol, "cmd=get_result rc=0 value=x": words of the form name=value. A word
// without '=' belongs to the value before it (messages hold spaces).
std::map<std::string, std::string> parse_pmi1_line(const std::string& line);

class Pmi1Client : public KvsClient {
 public:
  // Says hello on the socket. kBootstrap when fd is not an open socket or the other side does not
  // speak PMI-1.
  static Result<std::shared_ptr<Pmi1Client>> open(int fd, int pe, int n_pes, Deadline deadline);
  ~Pmi1Client() override;

  int pe() const override { return pe_; }
  int n_pes() const override { return n_pes_; }
  size_t value_limit() const override { return value_limit_; }
  Status put(const std::string& key, const std::string& value) override;
  Status fence(Deadline deadline) override;
  Result<std::string> get(int pe, const std::string& key, Deadline deadline) override;
  std::string missing(const std::string& key) override;
  Status abort(int status) override;
  std::string describe() const override;

 private:
  using Words = std::map<std::string, std::string>;
  Pmi1Client(int fd, int pe, int n_pes) : fd_(fd), pe_(pe), n_pes_(n_pes) {}
  Status hello(Deadline deadline);
  bool same_socket() const;
  Result<Words> ask(const std::string& request, const char* answer, Deadline deadline);
  Status send(const std::string& line);
  Result<std::string> receive(Deadline deadline);

  std::mutex mutex_;
  const int fd_;
  const int pe_;
  const int n_pes_;
  uint64_t device_ = 0;  // of the socket, to know it again
  uint64_t inode_ = 0;
  std::string name_;  // of the key space
  size_t value_limit_ = 0;
  std::string buffer_;  // received, not yet a whole line
};

}  // namespace symm::bootstrap
