// KvsClient: the little that PMI-1 and PMIx have in common. Values become visible to others with
// the next fence. Threads: one at a time.
#pragma once

#include <string>

#include "base/deadline.h"
#include "base/status.h"

namespace symm::bootstrap {

class KvsClient {
 public:
  virtual ~KvsClient() = default;
  virtual int pe() const = 0;
  virtual int n_pes() const = 0;
  // The longest value that put() takes, in bytes; any bytes are allowed.
  virtual size_t value_limit() const = 0;
  // Keys are short words of letters, digits and dots, new ones every time; each PE has its own.
  virtual Status put(const std::string& key, const std::string& value) = 0;
  // Collective over all PEs of the job. kSmem when the time is over; the client is of no use then.
  virtual Status fence(Deadline deadline) = 0;
  virtual Result<std::string> get(int pe, const std::string& key, Deadline deadline) = 0;
  // After a fence ran into its deadline: who is missing, as far as the launcher tells.
  virtual std::string missing(const std::string& key) = 0;
  // Ends the job. Returns only when that is not possible.
  virtual Status abort(int status) = 0;
  virtual std::string describe() const = 0;
};

}  // namespace symm::bootstrap
