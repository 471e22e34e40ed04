// A stand-in for the PMI-1 server of a launcher, for tests. One thread serves all PEs over socket
// pairs. Threads: the object from one thread; fd() of a PE goes to the thread that plays it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace symm::bootstrap {

struct Pmi1Faults {
  size_t vallen_max = 1024;
  std::string init_answer = {};  // instead of the right one
  bool silent_barrier = false;   // barrier_in is never answered
  bool close_at_barrier = false;
};

class Pmi1Server {
 public:
  Pmi1Server(int n_pes, Pmi1Faults faults);
  ~Pmi1Server();
  // The PE's end of its socket; owned here.
  int fd(int pe) const { return client_ends_[pe].get(); }
  // What the server has seen; call after stop().
  void stop();
  int goodbyes() const { return goodbyes_; }
  int abort_code() const { return abort_code_; }
  size_t longest_value() const { return longest_value_; }
  size_t longest_key() const { return longest_key_; }

 private:
  void serve();
  void handle(int pe, const std::string& line);
  void answer(int pe, const std::string& line);
  void put(int pe, std::map<std::string, std::string>& words);

  const int n_pes_;
  const Pmi1Faults faults_;
  std::vector<UniqueFd> client_ends_;
  std::vector<UniqueFd> server_ends_;
  UniqueFd stop_read_;
  UniqueFd stop_write_;
  std::vector<std::string> buffers_;
  std::map<std::string, std::string> pending_;  // becomes visible with the barrier
  std::map<std::string, std::string> values_;
  std::set<int> in_barrier_;
  int goodbyes_ = 0;
  int abort_code_ = -1;
  size_t longest_value_ = 0;
  size_t longest_key_ = 0;
  std::thread thread_;
};

}  // namespace symm::bootstrap
