#include "bootstrap/pmix/pmi1_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bootstrap/pmix/pmi1_client.h"

namespace symm::bootstrap {

Pmi1Server::Pmi1Server(int n_pes, Pmi1Faults faults)
    : n_pes_(n_pes), faults_(std::move(faults)), buffers_(static_cast<size_t>(n_pes)) {
  for (int pe = 0; pe < n_pes; ++pe) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    client_ends_.emplace_back(ends[0]);
    server_ends_.emplace_back(ends[1]);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  stop_read_.reset(ends[0]);
  stop_write_.reset(ends[1]);
  thread_ = std::thread([this] { serve(); });
}

Pmi1Server::~Pmi1Server() { stop(); }

void Pmi1Server::stop() {
  stop_write_.reset();
  if (thread_.joinable()) thread_.join();
}

void Pmi1Server::serve() {
  while (true) {
    std::vector<pollfd> waits{{stop_read_.get(), POLLIN, 0}};
    for (UniqueFd& end : server_ends_) waits.push_back({end.get(), POLLIN, 0});
    if (::poll(waits.data(), waits.size(), -1) < 0) return;
    for (int pe = 0; pe < n_pes_; ++pe) {
      if (waits[static_cast<size_t>(pe) + 1].revents == 0) continue;
      char chunk[4096];
      ssize_t count = ::read(server_ends_[pe].get(), chunk, sizeof(chunk));
      if (count <= 0) {
        server_ends_[pe].reset();
        continue;
      }
      buffers_[pe].append(chunk, static_cast<size_t>(count));
      for (size_t end; (end = buffers_[pe].find('\n')) != std::string::npos;) {
        std::string line = buffers_[pe].substr(0, end);
        buffers_[pe].erase(0, end + 1);
        handle(pe, line);
      }
    }
    if (waits[0].revents != 0) return;
  }
}

void Pmi1Server::answer(int pe, const std::string& line) {
  std::string text = line + "\n";
  // In two pieces, so that clients must cope with half lines.
  size_t half = text.size() / 2;
  int fd = server_ends_[pe].get();
  if (::send(fd, text.data(), half, MSG_NOSIGNAL) < 0) return;
  if (::send(fd, text.data() + half, text.size() - half, MSG_NOSIGNAL) < 0) return;
}

void Pmi1Server::put(int pe, std::map<std::string, std::string>& words) {
  longest_value_ = std::max(longest_value_, words["value"].size());
  longest_key_ = std::max(longest_key_, words["key"].size());
  if (words["value"].size() >= faults_.vallen_max) {
    answer(pe, "cmd=put_result rc=-1 msg=value is too long");
    return;
  }
  pending_[words["key"]] = words["value"];
  answer(pe, "cmd=put_result rc=0 msg=success");
}

void Pmi1Server::handle(int pe, const std::string& line) {
  auto words = parse_pmi1_line(line);
  const std::string& cmd = words["cmd"];
  if (cmd == "init") {
    answer(pe, faults_.init_answer.empty()
                   ? "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
                   : faults_.init_answer);
  } else if (cmd == "get_maxes") {
    answer(pe, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=" +
                   std::to_string(faults_.vallen_max));
  } else if (cmd == "get_my_kvsname") {
    answer(pe, "cmd=my_kvsname kvsname=kvs_test_0");
  } else if (cmd == "put") {
    put(pe, words);
  } else if (cmd == "get") {
    auto found = values_.find(words["key"]);
    answer(pe, found == values_.end() ? "cmd=get_result rc=-1 msg=key not found value=unknown"
                                      : "cmd=get_result rc=0 msg=success value=" + found->second);
  } else if (cmd == "barrier_in") {
    if (faults_.close_at_barrier) server_ends_[pe].reset();
    if (faults_.close_at_barrier || faults_.silent_barrier) return;
    in_barrier_.insert(pe);
    if (in_barrier_.size() < static_cast<size_t>(n_pes_)) return;
    in_barrier_.clear();
    values_.insert(pending_.begin(), pending_.end());
    for (int other = 0; other < n_pes_; ++other) answer(other, "cmd=barrier_out");
  } else if (cmd == "finalize") {
    ++goodbyes_;
    answer(pe, "cmd=finalize_ack");
  } else if (cmd == "abort") {
    abort_code_ = std::atoi(words["exitcode"].c_str());
  }
}

}  // namespace symm::bootstrap
