// Claims: what every process that came to a store says about itself, and the text that tells how
// the claims contradict each other: a table from value to PEs. Bounded. Pure. Threads: one at a
// time, the session's.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/protocol.h"

namespace symm::store {

class Claims {
 public:
  // What PE 0, which serves the store, was told.
  struct Owner {
    int n_pes = 0;
    bool tls = false;
    uint64_t token = 0;   // of its hello; 0: unknown
    std::string trouble;  // why the job cannot begin, if PE 0 knows already
  };
  explicit Claims(const Owner& owner);

  // Keeps the claim unless it is there already (a second attempt of one process).
  void note(const Hello& hello);
  // Whether note() has seen this very attempt.
  bool has(const Hello& hello) const;
  // Whether this newcomer contradicts what PE 0 was told. `taken`: its number has an owner.
  bool contradicts(const Hello& hello, bool taken) const;
  // Every PE of the job has spoken.
  bool complete() const;
  // The contradictions, with all values.
  std::string text() const;

 private:
  struct Claim {
    int pe;
    int n_pes;
    uint16_t version;
    bool tls;
    uint64_t token;
    std::string library;
    std::string trouble;
  };
  template <typename ValueOf>
  void add_table(const char* name, ValueOf value_of, std::vector<std::string>& parts) const;
  void add_troubles(std::vector<std::string>& parts) const;
  void add_numbers(std::vector<std::string>& parts) const;
  std::vector<int> silent() const;

  const Owner owner_;
  std::vector<Claim> claims_;
  std::set<std::pair<int, uint64_t>> seen_;  // PE and token of the claims
};

}  // namespace symm::store
