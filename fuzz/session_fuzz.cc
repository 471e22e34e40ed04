// The store as three members and a stranger can drive it: joins, requests, deaths and time in any
// order.
#include <algorithm>

#include "require.h"
#include "store/session.h"

namespace {

using namespace symm::store;

constexpr int kPes = 3;

class Driver {
 public:
  Driver() : session_(options()) {}

  // One step takes: action, PE, body length, body.
  void run(std::span<const uint8_t> data) {
    while (data.size() >= 3) {
      uint8_t action = data[0];
      int pe = data[1] % (kPes + 1);
      size_t length = std::min<size_t>(data[2], data.size() - 3);
      step(action, pe, {reinterpret_cast<const char*>(data.data()) + 3, length});
      data = data.subspan(3 + length);
      check();
    }
  }

 private:
  static Session::Options options() {
    Session::Options out;
    out.n_pes = kPes;
    return out;
  }

  void step(uint8_t action, int pe, std::string_view body) {
    if (action < 0x20) {
      request(static_cast<Type>(action % 10), pe, body);
    } else if (action < 0x60) {
      Hello hello;
      hello.pe = pe;
      hello.n_pes = action == 0x5F ? kPes + 1 : kPes;
      hello.cookie = action == 0x5E;
      if (action == 0x5D) hello.trouble = std::string(body);
      HelloReply reply = session_.admit(hello, now_, sends_);
      if (reply.result != 0) return;
      SYMM_REQUIRE(pe < kPes && !member_[pe]);
      member_[pe] = true;
    } else if (action < 0x80) {
      if (!member_[pe]) return;
      session_.disconnect(pe, "fuzz", sends_);
      gone_[pe] = true;
    } else {
      now_ += std::chrono::milliseconds(action - 0x80) * 100;
      session_.tick(now_, sends_);
      auto next = session_.next_deadline();
      SYMM_REQUIRE(!next || *next > now_);
    }
  }

  // A server reads from a member only while it is connected and has not said goodbye.
  void request(Type type, int pe, std::string_view body) {
    if (!member_[pe] || gone_[pe]) return;
    auto request = decode_request(type, body);
    if (!request.ok()) return;
    session_.handle(pe, ++seq_, std::move(request.value()), now_, sends_);
    if (type == Type::kGoodbye) gone_[pe] = true;
  }

  void check() {
    for (const Session::Send& send : sends_) {
      SYMM_REQUIRE(send.pe >= 0 && send.pe < kPes && member_[send.pe]);
      SYMM_REQUIRE(send.frame.header.length == send.frame.body->size());
      SYMM_REQUIRE(send.frame.body->size() <= kMaxReplyBody);
      if (send.frame.header.type != Type::kReply)
        SYMM_REQUIRE(decode_notice(*send.frame.body).ok());
    }
    sends_.clear();
    for (int pe : session_.present()) SYMM_REQUIRE(member_[pe] && !gone_[pe]);
  }

  Session session_;
  Session::Sends sends_;
  Clock::time_point now_{};
  uint32_t seq_ = 0;
  bool member_[kPes + 1] = {};
  bool gone_[kPes + 1] = {};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Driver().run({data, size});
  return 0;
}
