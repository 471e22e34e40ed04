#include "store/session.h"

#include <algorithm>
#include <cstring>

namespace symm::store {
namespace {

// How long a contradiction waits for the PEs that have not spoken yet.
constexpr std::chrono::milliseconds kPatience{400};
// Results below this size are sent as they are.
constexpr size_t kWorthComparing = 4096;

const std::shared_ptr<const std::string>& empty_body() {
  static const auto* empty = new std::shared_ptr<const std::string>(new std::string());
  return *empty;
}

std::shared_ptr<const std::string> body_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

int16_t wire(Code code) { return static_cast<int16_t>(code); }

}  // namespace

Session::Session(const Options& options)
    : options_(options),
      rounds_(options.n_pes),
      members_(options.n_pes, Member::kAbsent),
      claims_({options.n_pes, options.tls, options.token, options.trouble}),
      told_(options.n_pes, false) {
  rounds_.set_report_after(options.report_after);
}

HelloReply Session::refuse(int result, std::string text) const {
  HelloReply out;
  out.magic = options_.magic;
  out.result = static_cast<int16_t>(result);
  out.text = std::move(text);
  return out;
}

// A hello of another job. Nobody of this job is told, unless it cannot be a coincidence.
std::optional<HelloReply> Session::foreign(const Hello& hello, Sends& out) {
  if (hello.version != kProtocolVersion) return std::nullopt;
  std::string text;
  if (hello.magic != options_.magic) {
    text = fmt::format(
        "this is the store of another job: magic {:#06x} here, {:#06x} there; the unique id is old "
        "or belongs to another job, or the port is shared",
        options_.magic, hello.magic);
  } else if (hello.cookie != options_.cookie || hello.instance != options_.instance) {
    text = fmt::format(
        "id mismatch: PE {} has the unique id of another job (or of another instance); all PEs "
        "need the bytes that PE 0 made",
        hello.pe);
  } else {
    return std::nullopt;
  }
  const bool expected = hello.n_pes == options_.n_pes && hello.pe > 0 &&
                        hello.pe < options_.n_pes && members_[hello.pe] == Member::kAbsent;
  if (options_.one_launch && expected && !formed_ && broken_.empty()) {
    told_[hello.pe] = true;
    break_job(fmt::format("PE {}: {}", hello.pe, text), out);
  }
  return refuse(static_cast<int>(Code::kInternal), text);
}

void Session::break_job(std::string why, Sends& out) {
  broken_ = std::move(why);
  verdict_at_.reset();
  Rounds::Outcomes outcomes;
  rounds_.break_all(Code::kInternal, broken_, outcomes);
  deliver(outcomes, out);
}

// The newcomer and this job cannot go together. Waits for the values of the others, unless all are
// known.
HelloReply Session::disagree(const Hello& hello, Clock::time_point now, Sends& out) {
  if (!verdict_at_) verdict_at_ = now + kPatience;
  if (claims_.complete()) break_job(claims_.text(), out);
  if (broken_.empty()) {
    sent_away_.insert({hello.pe, hello.token});
    return refuse(kResultRetry, "the PEs disagree; PE 0 collects what each of them says");
  }
  sent_away_.erase({hello.pe, hello.token});
  if (hello.pe >= 0 && hello.pe < options_.n_pes) {
    // It has heard and begins anew: with the next store at this address.
    if (told_[hello.pe] && !claims_.has(hello)) {
      return refuse(kResultRetry, "the store there belongs to a start that failed");
    }
    told_[hello.pe] = true;
  }
  return refuse(static_cast<int>(Code::kInternal), broken_);
}

HelloReply Session::admit(const Hello& hello, Clock::time_point now, Sends& out) {
  if (auto refusal = foreign(hello, out)) return std::move(*refusal);
  // A quick PE may start the next run while the others still end this one: the port is the same. A
  // store that PE 0 opened only to tell its trouble is closing from the start.
  const bool ending = options_.trouble.empty() && (closing_ || left_ > 0 || lost_ > 0);
  if (broken_.empty() && ending) {
    return refuse(kResultRetry, "the store there belongs to a run that is ending");
  }
  const bool in_range = hello.pe >= 0 && hello.pe < options_.n_pes;
  const bool taken = in_range && members_[hello.pe] != Member::kAbsent;
  if (!broken_.empty()) return disagree(hello, now, out);
  const bool contradicts = claims_.contradicts(hello, taken);
  if (formed_) {
    // All PEs are here: whoever comes is not one of them and changes nothing.
    Claims late({options_.n_pes, options_.tls, options_.token, ""});
    late.note(hello);
    const std::string text =
        taken ? fmt::format("two processes claim PE {}: the job runs with the first", hello.pe)
              : late.text();
    return refuse(static_cast<int>(Code::kInternal), text);
  }
  claims_.note(hello);
  if (contradicts || verdict_at_ || !options_.trouble.empty()) return disagree(hello, now, out);
  members_[hello.pe] = Member::kPresent;
  rounds_.join(hello.pe);
  HelloReply reply = refuse(0, "");
  reply.nonce = options_.nonce;
  return reply;
}

int Session::untold() const {
  if (broken_.empty() && !verdict_at_ && options_.trouble.empty()) return 0;
  int count = static_cast<int>(sent_away_.size());
  for (int pe = 1; pe < options_.n_pes; ++pe) {
    count += members_[pe] == Member::kAbsent && !told_[pe] ? 1 : 0;
  }
  return count;
}

void Session::reply(int pe, uint32_t seq, int16_t result, std::shared_ptr<const std::string> body,
                    Sends& out) {
  Header header{Type::kReply, result, static_cast<uint32_t>(body->size()), seq};
  out.push_back({pe, {header, std::move(body)}});
}

void Session::reply_text(int pe, uint32_t seq, int code, const std::string& text, Sends& out) {
  reply(pe, seq, static_cast<int16_t>(code), body_of(text), out);
}

void Session::reply_status(int pe, uint32_t seq, const Status& status, Sends& out) {
  if (status.ok()) {
    reply(pe, seq, 0, empty_body(), out);
  } else {
    reply_text(pe, seq, static_cast<int>(status.code()), std::string(status.text()), out);
  }
}

void Session::notify(Type type, int value, int except, const std::string& text, Sends& out) {
  auto body = body_of(encode_body(Notice{value, text}));
  Header header{type, 0, static_cast<uint32_t>(body->size()), 0};
  for (int pe = 0; pe < options_.n_pes; ++pe) {
    if (pe != except && members_[pe] == Member::kPresent) out.push_back({pe, {header, body}});
  }
}

uint64_t Session::remember(int pe, uint32_t seq) {
  pending_[++last_ticket_] = {pe, seq};
  return last_ticket_;
}

void Session::handle(int pe, uint32_t seq, Request request, Clock::time_point now, Sends& out) {
  switch (request.type) {
    case Type::kBarrier:
    case Type::kAllgather:
      handle_step(pe, seq, request, now, out);
      return;
    case Type::kGlobalExit:
      reply(pe, seq, 0, empty_body(), out);
      notify(Type::kExitNotice, static_cast<int>(request.number), -1,
             fmt::format("PE {} called global_exit({})", pe, request.number), out);
      return;
    case Type::kGoodbye: {
      reply(pe, seq, 0, empty_body(), out);
      members_[pe] = Member::kLeft;
      ++left_;
      Rounds::Outcomes outcomes;
      rounds_.leave(pe, outcomes);
      deliver(outcomes, out);
      return;
    }
    default:
      handle_key(pe, seq, request, now, out);
  }
}

void Session::handle_key(int pe, uint32_t seq, Request& request, Clock::time_point now,
                         Sends& out) {
  Kv::Wakeups wakeups;
  switch (request.type) {
    case Type::kSet:
      reply_status(pe, seq, kv_.set(request.key, std::move(request.value), wakeups), out);
      break;
    case Type::kGet:
      handle_get(pe, seq, request, now, out);
      break;
    case Type::kAdd: {
      auto sum = kv_.add(request.key, request.number, wakeups);
      if (sum.ok()) {
        reply(pe, seq, 0, body_of(std::to_string(sum.value())), out);
      } else {
        reply_status(pe, seq, sum.status(), out);
      }
      break;
    }
    case Type::kAppend: {
      auto length = kv_.append(request.key, request.value, wakeups);
      if (length.ok()) {
        reply(pe, seq, 0, body_of(std::to_string(length.value())), out);
      } else {
        reply_status(pe, seq, length.status(), out);
      }
      break;
    }
    case Type::kCas: {
      auto before =
          kv_.compare_and_swap(request.key, request.expected, std::move(request.value), wakeups);
      if (!before.ok()) {
        reply_status(pe, seq, before.status(), out);
      } else if (before.value()) {
        reply(pe, seq, 0, body_of(*before.value()), out);
      } else {
        reply(pe, seq, kResultNotFound, empty_body(), out);
      }
      break;
    }
    case Type::kRemove:
      reply(pe, seq, kv_.remove(request.key) ? int16_t{0} : kResultNotFound, empty_body(), out);
      break;
    default:
      reply_text(pe, seq, static_cast<int>(Code::kInvalidValue), "not a request", out);
  }
  deliver(wakeups, out);
}

void Session::handle_get(int pe, uint32_t seq, Request& request, Clock::time_point now,
                         Sends& out) {
  if (const std::string* value = kv_.find(request.key)) {
    reply(pe, seq, 0, body_of(*value), out);
    return;
  }
  if (request.number == 0) {
    reply(pe, seq, kResultNotFound, empty_body(), out);
    return;
  }
  if (lost_ > 0) return reply_text(pe, seq, wire(Code::kPeerLost), lost_text_, out);
  std::optional<Clock::time_point> deadline;
  // Limits beyond a year are as good as none, and keep the sum below from overflowing.
  constexpr int64_t kYearMs = int64_t{1000} * 60 * 60 * 24 * 366;
  if (request.number > 0 && request.number < kYearMs) {
    deadline = now + std::chrono::milliseconds(request.number);
  }
  uint64_t ticket = remember(pe, seq);
  Status status = kv_.wait(request.key, ticket, deadline);
  if (status.ok()) return;
  pending_.erase(ticket);
  reply_status(pe, seq, status, out);
}

void Session::handle_step(int pe, uint32_t seq, Request& request, Clock::time_point now,
                          Sends& out) {
  constexpr int64_t kDayMs = int64_t{1000} * 60 * 60 * 24;
  Rounds::Entry entry;
  entry.pe = pe;
  entry.ticket = remember(pe, seq);
  entry.kind = request.type == Type::kBarrier ? Rounds::Kind::kBarrier : Rounds::Kind::kAllgather;
  entry.what = std::move(request.key);
  entry.data = std::move(request.value);
  entry.limit = std::chrono::milliseconds(std::clamp<int64_t>(request.number, 0, kDayMs));
  entry.now = now;
  Rounds::Outcomes outcomes;
  rounds_.enter(std::move(entry), outcomes);
  deliver(outcomes, out);
}

// Most steps of init compare what is the same everywhere: one record then says it all, and the
// traffic of the step grows with the number of PEs, not with its square.
std::shared_ptr<const std::string> Session::one_for_all(
    const std::shared_ptr<const std::string>& payload) const {
  const size_t record = payload->size() / static_cast<size_t>(options_.n_pes);
  if (record == 0 || payload->size() < kWorthComparing) return nullptr;
  // Equal to itself moved by one record: all records are equal.
  const bool equal =
      std::memcmp(payload->data(), payload->data() + record, payload->size() - record) == 0;
  return equal ? body_of(payload->substr(0, record)) : nullptr;
}

void Session::deliver(const Rounds::Outcomes& outcomes, Sends& out) {
  std::shared_ptr<const std::string> compared;  // the payload that `single` is about
  std::shared_ptr<const std::string> single;
  for (const Rounds::Outcome& outcome : outcomes) {
    auto node = pending_.extract(outcome.ticket);
    if (node.empty()) continue;
    auto [pe, seq] = node.mapped();
    if (outcome.code == Code::kOk) {
      formed_ = true;
      if (outcome.payload != compared) {
        compared = outcome.payload;
        single = one_for_all(compared);
      }
      reply(pe, seq, single ? kResultAllEqual : int16_t{0}, single ? single : compared, out);
    } else {
      reply_text(pe, seq, static_cast<int>(outcome.code), outcome.text, out);
    }
  }
}

void Session::deliver(const Kv::Wakeups& wakeups, Sends& out) {
  for (const Kv::Wakeup& wakeup : wakeups) {
    auto node = pending_.extract(wakeup.ticket);
    if (node.empty()) continue;
    auto [pe, seq] = node.mapped();
    if (wakeup.value) {
      reply(pe, seq, 0, body_of(*wakeup.value), out);
    } else {
      reply_text(pe, seq, static_cast<int>(Code::kSmem), "nobody set the key within the time limit",
                 out);
    }
  }
}

void Session::disconnect(int pe, const std::string& why, Sends& out) {
  std::erase_if(pending_, [&](const auto& item) {
    if (item.second.pe != pe) return false;
    kv_.forget(item.first);
    return true;
  });
  if (members_[pe] != Member::kPresent) return;
  members_[pe] = Member::kLost;
  std::string text = fmt::format("PE {} is lost: {}", pe, why);
  if (lost_++ == 0) lost_text_ = text;
  notify(Type::kPeerLost, pe, pe, text, out);
  Rounds::Outcomes outcomes;
  rounds_.lose(pe, text, outcomes);
  deliver(outcomes, out);
  // Whoever waits for a key may wait for the dead PE: no wait outlives a death.
  for (uint64_t ticket : kv_.take_waiters()) {
    auto node = pending_.extract(ticket);
    if (node.empty()) continue;
    reply_text(node.mapped().pe, node.mapped().seq, wire(Code::kPeerLost), text, out);
  }
}

std::optional<Clock::time_point> Session::next_deadline() const {
  auto a = rounds_.next_deadline();
  auto b = kv_.next_deadline();
  auto next = verdict_at_;
  for (const auto& one : {a, b}) {
    if (one && (!next || *one < *next)) next = one;
  }
  return next;
}

void Session::tick(Clock::time_point now, Sends& out) {
  if (verdict_at_ && *verdict_at_ <= now) break_job(claims_.text(), out);
  Rounds::Outcomes outcomes;
  rounds_.expire(now, outcomes);
  deliver(outcomes, out);
  for (const Rounds::Report& report : rounds_.take_reports(now)) {
    for (int pe : report.waiting) {
      auto body = body_of(encode_body(Notice{pe, report.text}));
      out.push_back({pe, {{Type::kWaitReport, 0, static_cast<uint32_t>(body->size()), 0}, body}});
    }
  }
  Kv::Wakeups wakeups;
  kv_.expire(now, wakeups);
  deliver(wakeups, out);
}

void Session::announce_end(Sends& out) {
  notify(Type::kStoreClosing, 0, -1, "PE 0 has ended and its store with it", out);
}

std::vector<int> Session::present() const {
  std::vector<int> out;
  for (int pe = 0; pe < options_.n_pes; ++pe) {
    if (members_[pe] == Member::kPresent) out.push_back(pe);
  }
  return out;
}

}  // namespace symm::store
