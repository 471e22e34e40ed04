#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "base/config.h"

namespace symm::log {
namespace {

std::atomic<int> g_level{static_cast<int>(Level::kWarn)};
std::atomic<int> g_pe{-1};
std::atomic<Callback> g_callback{nullptr};

constexpr const char* kNames[] = {"DEBUG", "INFO", "WARN", "ERROR", "FATAL"};

int level_from_environment() {
  std::string name = config::text("SHMEM_LOG_LEVEL");
  for (int i = 0; i < 5; ++i) {
    if (name == kNames[i]) return i;
  }
  return -1;
}

std::shared_ptr<spdlog::logger> make_logger() {
  std::vector<spdlog::sink_ptr> sinks;
  sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (config::flag("SHMEM_LOG_TO_STDOUT")) {
    sinks.push_back(std::make_shared<spdlog::sinks::stdout_sink_mt>());
  }
  std::string note;
  if (std::string dir = config::text("SHMEM_LOG_PATH"); !dir.empty()) {
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(
          fmt::format("{}/aclshmem_{}.log", dir, ::getpid())));
    } catch (const spdlog::spdlog_ex& error) {
      note = fmt::format("SHMEM_LOG_PATH={}: {}; logging to stderr only", dir, error.what());
    }
  }
  auto logger = std::make_shared<spdlog::logger>("shmem", sinks.begin(), sinks.end());
  logger->set_level(spdlog::level::trace);
  logger->set_pattern("%v");
  logger->flush_on(spdlog::level::trace);
  if (!note.empty()) logger->warn(note);
  return logger;
}

// Made at first use and never destroyed: threads may log while the process exits.
spdlog::logger& logger() {
  static auto* holder = new std::shared_ptr<spdlog::logger>(make_logger());
  return **holder;
}

void apply_environment_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (int level = level_from_environment(); level >= 0) g_level = level;
  });
}

std::string_view base_name(std::string_view path) {
  auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

Status set_level(int level) {
  if (int from_env = level_from_environment(); from_env >= 0) {
    g_level = from_env;
    return {};
  }
  if (level < 0 || level > 4) {
    return SYMM_ERROR(kInvalidValue, "log level {} is not one of 0 (DEBUG) .. 4 (FATAL)", level);
  }
  g_level = level;
  return {};
}

Level level() {
  apply_environment_once();
  return static_cast<Level>(g_level.load());
}

void set_callback(Callback callback) {
  Callback none = nullptr;
  g_callback.compare_exchange_strong(none, callback);
}

void set_pe(int pe) { g_pe = pe; }

bool enabled(Level record_level) { return record_level >= level() || g_callback.load() != nullptr; }

void write(Level record_level, const char* file, int line, std::string_view text) {
  int pe = g_pe.load();
  std::string who = pe >= 0 ? fmt::format("PE {} ", pe) : std::string();
  std::string record =
      fmt::format("[shmem {}{} pid {}] {} ({}:{})", who, kNames[static_cast<int>(record_level)],
                  ::getpid(), text, base_name(file), line);
  if (Callback callback = g_callback.load())
    callback(static_cast<int>(record_level), record.c_str());
  if (record_level >= level()) logger().log(spdlog::level::info, record);
}

void report(std::string_view text) {
  int pe = g_pe.load();
  if (pe >= 0) {
    logger().log(spdlog::level::info, fmt::format("[shmem PE {} pid {}] {}", pe, ::getpid(), text));
  } else {
    logger().log(spdlog::level::info, fmt::format("[shmem pid {}] {}", ::getpid(), text));
  }
}

}  // namespace symm::log
