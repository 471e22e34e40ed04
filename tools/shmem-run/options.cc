#include "shmem-run/options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/config.h"
#include "base/version.h"

namespace symm::launcher {
namespace {

constexpr int kMaxPes = 16384;
constexpr int kMaxTimeout = 30 * 24 * 3600;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

Status check(const Options& options, const std::string& n, const std::string& timeout,
             const std::string& bind, Options* out) {
  *out = options;
  if (n.empty()) return SYMM_ERROR(kInvalidParam, "-n N, the number of PEs, is missing");
  auto n_pes = config::parse_integer(n, 1, kMaxPes);
  if (!n_pes.ok()) return std::move(n_pes.status()).with_context("-n");
  out->n_pes = static_cast<int>(n_pes.value());
  if (!timeout.empty()) {
    auto seconds = config::parse_integer(timeout, 1, kMaxTimeout);
    if (!seconds.ok()) return std::move(seconds.status()).with_context("--timeout");
    out->timeout_s = static_cast<int>(seconds.value());
  }
  if (bind != "core" && bind != "none") {
    return SYMM_ERROR(kInvalidParam, "--bind-to: '{}' is neither core nor none", bind);
  }
  out->bind_to_core = bind == "core";
  if (out->command.empty()) return SYMM_ERROR(kInvalidParam, "the program to run is missing");
  if (out->command.front().starts_with("-")) {
    return SYMM_ERROR(kInvalidParam, "option {} is unknown", out->command.front());
  }
  return {};
}

}  // namespace

Result<Options> parse_options(int argc, char** argv) {
  Options options;
  std::string n;
  std::string timeout;
  std::string bind = "none";
  CLI::App app("Runs a SHMEM program with N PEs on this host.", "shmem-run");
  app.add_option("-n,--np", n, "number of PEs");
  app.add_flag("--prefix-output", options.prefix_output,
               "put [PE] in front of every line of output");
  app.add_option("--timeout", timeout, "end the job after S seconds with exit code 124");
  app.add_option("--bind-to", bind, "core: each PE on its own processor; none (default)");
  app.set_version_flag("--version", std::string("shmem-run ") + kVersion);
  app.footer(
      "In the program's arguments {pe}, {npes} and {address} stand for the PE number, the number "
      "of PEs and the\n"
      "address of PE 0. The exit code is that of the first PE that failed, 128 + signal if a "
      "signal ended it.");
  // From the program's name on, nothing is an option of ours.
  app.prefix_command();
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    options.help_only = true;
    return options;
  } catch (const CLI::CallForVersion&) {
    std::printf("shmem-run %s\n", kVersion);
    options.help_only = true;
    return options;
  } catch (const CLI::ParseError& error) {
    return SYMM_ERROR(kInvalidParam, "{}", error.what());
  }
  options.command = app.remaining();
  if (!options.command.empty() && options.command.front() == "--") {
    options.command.erase(options.command.begin());
  }
  Options checked;
  SYMM_TRY(check(options, n, timeout, bind, &checked));
  return checked;
}

std::string substitute(std::string argument, int pe, int n_pes, const std::string& address) {
  replace_all(argument, "{pe}", std::to_string(pe));
  replace_all(argument, "{npes}", std::to_string(n_pes));
  replace_all(argument, "{address}", address);
  return argument;
}

}  // namespace symm::launcher
