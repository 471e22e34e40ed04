// Session: one job as its store sees it: who is a member, the key-value table, the collective
// steps, deaths and goodbyes. Pure: it is told what arrived and what time it is, and answers with
// frames to send. Threads: one at a time, the server's.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "store/claims.h"
#include "store/kv.h"
#include "store/protocol.h"
#include "store/rounds.h"

namespace symm::store {

class Session {
 public:
  struct Options {
    int n_pes = 0;
    uint16_t magic = kDefaultMagic;
    uint64_t cookie = 0;
    uint64_t instance = 0;
    std::array<uint8_t, 32> nonce{};
    std::chrono::milliseconds report_after{0};  // when open steps are reported; 0: never
    bool tls = false;     // what PE 0 was told, for the comparison with the others
    uint64_t token = 0;   // of PE 0's own hello; 0: unknown
    std::string trouble;  // not empty: PE 0 cannot go on; all are told why
    // Who proves the key comes from the same launch, so that a wrong unique id is no accident of
    // two jobs that share a port: it fails this job, too.
    bool one_launch = false;
  };
  struct Send {
    int pe = 0;
    Frame frame;
  };
  using Sends = std::vector<Send>;

  explicit Session(const Options& options);

  // Decides on a newcomer; result 0 makes it a member. A member of the same job that contradicts
  // (PE number taken or out of range, other n_pes, version or TLS, or it cannot take part) fails
  // the job for all as long as it is being formed; later only the newcomer is refused. The failure
  // waits a little for the others, so that the message has the values of all: newcomers are told
  // to come back meanwhile.
  HelloReply admit(const Hello& hello, Clock::time_point now, Sends& out);
  void handle(int pe, uint32_t seq, Request request, Clock::time_point now, Sends& out);
  // The connection of a member ended, with or without goodbye before.
  void disconnect(int pe, const std::string& why, Sends& out);
  std::optional<Clock::time_point> next_deadline() const;
  void tick(Clock::time_point now, Sends& out);
  // A connection was turned away or ended before it was a member.
  void note_refusal(const std::string& who, const std::string& why) {
    rounds_.note_refusal(who, why);
  }
  // From now on newcomers are told to come back later; members keep being served.
  void begin_closing() { closing_ = true; }
  // Tells the members that are left that the store goes away.
  void announce_end(Sends& out);

  // Members that have neither said goodbye nor died.
  std::vector<int> present() const;
  bool anyone_lost() const { return lost_ > 0; }
  // Processes that have not been told yet why the job failed while it was being formed.
  int untold() const;

 private:
  enum class Member : uint8_t { kAbsent, kPresent, kLeft, kLost };
  struct Pending {
    int pe;
    uint32_t seq;
  };

  std::optional<HelloReply> foreign(const Hello& hello, Sends& out);
  HelloReply disagree(const Hello& hello, Clock::time_point now, Sends& out);
  void break_job(std::string why, Sends& out);
  HelloReply refuse(int result, std::string text) const;
  void reply(int pe, uint32_t seq, int16_t result, std::shared_ptr<const std::string> body,
             Sends& out);
  void reply_text(int pe, uint32_t seq, int code, const std::string& text, Sends& out);
  void reply_status(int pe, uint32_t seq, const Status& status, Sends& out);
  void notify(Type type, int value, int except, const std::string& text, Sends& out);
  uint64_t remember(int pe, uint32_t seq);
  void handle_key(int pe, uint32_t seq, Request& request, Clock::time_point now, Sends& out);
  void handle_get(int pe, uint32_t seq, Request& request, Clock::time_point now, Sends& out);
  void handle_step(int pe, uint32_t seq, Request& request, Clock::time_point now, Sends& out);
  std::shared_ptr<const std::string> one_for_all(
      const std::shared_ptr<const std::string>& payload) const;
  void deliver(const Rounds::Outcomes& outcomes, Sends& out);
  void deliver(const Kv::Wakeups& wakeups, Sends& out);

  const Options options_;
  Rounds rounds_;
  Kv kv_;
  std::vector<Member> members_;
  std::unordered_map<uint64_t, Pending> pending_;  // by ticket
  uint64_t last_ticket_ = 0;
  int left_ = 0;
  int lost_ = 0;
  std::string lost_text_;  // about the first one
  bool formed_ = false;    // everybody has completed a first step together
  bool closing_ = false;
  std::string broken_;  // why the job cannot be formed
  Claims claims_;
  std::optional<Clock::time_point> verdict_at_;   // a contradiction was seen: when all are told
  std::set<std::pair<int, uint64_t>> sent_away_;  // came meanwhile: PE and token
  std::vector<bool> told_;                        // by PE: heard why the job failed
};

}  // namespace symm::store
