// One PE of a job that uses nothing but a bootstrap plug-in: follows the commands of its command
// line and prints a line for each. Started by process_test.
//   control_pe PE N_PES ADDRESS CONNECT_S OPERATION_S COMMAND...
// ADDRESS: tcp://..., or uid:HEX (a unique id), or makeuid (prints the id as "uid HEX", then joins
// with it). Commands: open, barrier:NAME, gather:WORD, key, info, event (waits for one), input
// (waits for a line), exit:STATUS, close. A failing command prints "failed CODE TEXT" and goes on.
#include <cinttypes>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "bootstrap/loader.h"

namespace {

struct Event {
  int event;
  int value;
  std::string text;
};
std::mutex g_mutex;
std::condition_variable g_changed;
std::deque<Event> g_events;

void on_event(void*, int event, int value, const char* text) {
  std::lock_guard lock(g_mutex);
  g_events.push_back({event, value, text});
  g_changed.notify_all();
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string to_hex(const uint8_t* bytes, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += fmt::format("{:02x}", bytes[i]);
  return out;
}

std::vector<uint8_t> from_hex(const std::string& text) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    out.push_back(static_cast<uint8_t>(std::strtoul(text.substr(i, 2).c_str(), nullptr, 16)));
  }
  return out;
}

class Pe {
 public:
  Pe(const symm_bootstrap_table* table, char** args) : table_(table) {
    config_.size = sizeof config_;
    config_.pe = std::atoi(args[0]);
    config_.n_pes = std::atoi(args[1]);
    config_.connect_timeout_s = std::atof(args[3]);
    config_.operation_timeout_s = std::atof(args[4]);
    config_.listen_fd = -1;
    config_.tls.enabled = 1;
    config_.on_event = on_event;
    address_ = args[2];
    config_.mode = 1u << 0;
    config_.address = address_.c_str();
  }

  bool prepare() {
    if (address_ == "makeuid") {
      uid_.resize(136);
      if (!check(table_->unique_id(uid_.data(), &config_.tls, error_, sizeof error_))) return false;
      say("uid " + to_hex(uid_.data(), uid_.size()));
    } else if (address_.starts_with("uid:")) {
      uid_ = from_hex(address_.substr(4));
    } else {
      return true;
    }
    config_.mode = 1u << 3;
    config_.address = nullptr;
    config_.comm_args = uid_.data();
    return true;
  }

  void run(const std::string& command) {
    auto colon = command.find(':');
    std::string verb = command.substr(0, colon);
    std::string word = colon == std::string::npos ? "" : command.substr(colon + 1);
    if (verb == "open") {
      say("opening");
      check(table_->open(&config_, &handle_, error_, sizeof error_)) && (say("opened"), true);
    } else if (verb == "input") {
      char line[64];
      say(std::fgets(line, sizeof line, stdin) != nullptr ? "input" : "end of input");
    } else if (verb == "event") {
      wait_for_event();
    } else if (handle_ == nullptr) {
      say("failed: no handle");
    } else {
      run_opened(verb, word);
    }
  }

 private:
  bool check(int code) {
    if (code == 0) return true;
    say(fmt::format("failed {} {}", code, error_));
    return false;
  }

  void run_opened(const std::string& verb, const std::string& word) {
    if (verb == "barrier") {
      if (check(table_->barrier(handle_, word.c_str(), error_, sizeof error_)))
        say("passed " + word);
    } else if (verb == "gather") {
      std::string all(word.size() * static_cast<size_t>(config_.n_pes), ' ');
      if (check(table_->allgather(handle_, word.data(), word.size(), all.data(), "words", error_,
                                  sizeof error_))) {
        say("gathered " + all);
      }
    } else if (verb == "key") {
      uint8_t key[32];
      if (check(table_->job_key(handle_, key, error_, sizeof error_)))
        say("key " + to_hex(key, sizeof key));
    } else if (verb == "info") {
      char text[512];
      table_->info(handle_, text, sizeof text);
      say(std::string("info ") + text);
    } else if (verb == "exit") {
      if (check(table_->global_exit(handle_, std::atoi(word.c_str()), error_, sizeof error_)))
        say("exiting");
    } else if (verb == "close") {
      table_->close(handle_);
      handle_ = nullptr;
      say("closed");
    } else {
      say("failed: unknown command " + verb);
    }
  }

  void wait_for_event() {
    std::unique_lock lock(g_mutex);
    g_changed.wait(lock, [] { return !g_events.empty(); });
    say(fmt::format("event {} {} {}", g_events.front().event, g_events.front().value,
                    g_events.front().text));
    g_events.pop_front();
  }

  const symm_bootstrap_table* table_;
  symm_bootstrap_config config_{};
  std::string address_;
  std::vector<uint8_t> uid_;
  void* handle_ = nullptr;
  char error_[1024] = "";
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  auto table = symm::bootstrap::load_plugin(symm::bootstrap::kConfigStorePlugin);
  if (!table.ok()) {
    say("failed " + table.status().to_string());
    return 1;
  }
  Pe pe(table.value(), argv + 1);
  if (!pe.prepare()) return 1;
  for (int i = 6; i < argc; ++i) pe.run(argv[i]);
  return 0;
}
