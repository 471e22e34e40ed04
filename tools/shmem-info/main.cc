// shmem-info: what this installation and this machine are, and every option with the value it has
// here.
#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <thread>

#include "base/config.h"
#include "base/version.h"
#include "bootstrap/security.h"

namespace {

using symm::config::Kind;
using symm::config::Option;

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kFlag:
      return "flag";
    case Kind::kInteger:
      return "integer";
    case Kind::kSize:
      return "size in bytes";
    case Kind::kSeconds:
      return "seconds";
    case Kind::kText:
      return "text";
  }
  return "";
}

std::string range_of(const Option& option) {
  if (option.kind == Kind::kFlag || option.kind == Kind::kText) return "";
  return fmt::format("{} to {}", option.low, option.high);
}

// The value in force; secrets are not shown.
std::string value_of(const Option& option) {
  const std::string name = option.name;
  if (name == "SHMEM_JOB_SECRET") return symm::config::raw(option.name) ? "(set)" : "";
  switch (option.kind) {
    case Kind::kFlag:
      return symm::config::flag(option.name) ? "1" : "0";
    case Kind::kInteger:
      return std::to_string(symm::config::integer(option.name));
    case Kind::kSize:
      return std::to_string(symm::config::size(option.name));
    case Kind::kSeconds:
      return fmt::format("{}", symm::config::seconds(option.name));
    case Kind::kText:
      return symm::config::text(option.name);
  }
  return "";
}

void print_versions() {
  std::printf("AnySHMEM %s, interface %s (%d.%d)\n", symm::kVersion, symm::kApiName,
              symm::kApiMajor, symm::kApiMinor);
}

void print_machine() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int usable = ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
  std::printf("processors: %u, usable by this process: %d\n", std::thread::hardware_concurrency(),
              usable);
  struct sysinfo info = {};
  if (::sysinfo(&info) == 0) {
    auto mib = [&](unsigned long units) { return units * info.mem_unit / (1024 * 1024); };
    std::printf("memory: %lu MiB, free without caches: %lu MiB\n", mib(info.totalram),
                mib(info.freeram));
  }
  std::printf("page: %ld bytes\n", ::sysconf(_SC_PAGESIZE));
}

void print_security() {
  std::printf("TLS of the control plane: %s\n", symm::bootstrap::describe_security().c_str());
}

void print_options() {
  std::printf("\noptions (environment variables):\n");
  for (const Option& option : symm::config::options()) {
    const bool set = symm::config::raw(option.name).has_value();
    std::printf("  %-26s %-14s default '%s', now '%s'%s\n      %s\n", option.name,
                kind_name(option.kind), option.fallback, value_of(option).c_str(),
                set ? " (set)" : "", option.help);
  }
}

// docs/environment.md is this output; a test compares.
void print_page() {
  std::printf(
      "# Environment variables\n\n"
      "Made by `shmem-info --environment-page` from the table in `src/base/config.cc`. A bad value "
      "makes init fail\n"
      "with a message that names it; a `SHMEM_*` name that nobody reads is reported as a warning.\n"
      "Flags take 1, true, on, yes or 0, false, off, no. Sizes take k, m, g, t (powers of two) and "
      "fractions.\n\n"
      "| name | type | default | range | meaning |\n|---|---|---|---|---|\n");
  for (const Option& option : symm::config::options()) {
    const std::string fallback = option.fallback;
    std::printf("| `%s` | %s | %s | %s | %s |\n", option.name, kind_name(option.kind),
                fallback.empty() ? "unset" : ("`" + fallback + "`").c_str(),
                range_of(option).c_str(), option.help);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Shows versions, the machine, and every option with its value.", "shmem-info");
  bool page = false;
  app.add_flag("--environment-page", page, "print the options as a page of the documentation");
  app.set_version_flag("--version", std::string("shmem-info ") + symm::kVersion);
  CLI11_PARSE(app, argc, argv);
  if (page) {
    print_page();
    return 0;
  }
  print_versions();
  print_machine();
  print_security();
  print_options();
  if (symm::Status status = symm::config::check_environment(); !status.ok()) {
    std::fprintf(stderr, "shmem-info: %s\n", status.to_string().c_str());
    return 1;
  }
  return 0;
}
