#include "shmem-run/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/config.h"
#include "base/version.h"

namespace symm::launcher {
namespace {

constexpr int kMaxPes = 16384;
constexpr int kMaxTimeout = 30 * 24 * 3600;
constexpr const char* kDefaultAgent = "ssh -x -o BatchMode=yes -o ServerAliveInterval=5";

// Options as other launchers write them. `ours`: null for those without effect here.
struct Alias {
  const char* name;
  const char* ours;
  int values;
  bool silent = false;  // no note although it has no effect
};
constexpr Alias kAliases[] = {
    {"-np", "--np", 1},
    {"-c", "--np", 1},
    {"--n", "--np", 1},
    {"-host", "--host", 1},
    {"-oversubscribe", "--oversubscribe", 0},
    {"-timeout", "--timeout", 1},
    {"-bind-to", "--bind-to", 1},
    {"-tag-output", "--prefix-output", 0},
    {"--tag-output", "--prefix-output", 0},
    {"-wdir", "--wdir", 1},
    {"-wd", "--wdir", 1},
    {"--map-by", nullptr, 1},
    {"-map-by", nullptr, 1},
    {"--rank-by", nullptr, 1},
    {"-rank-by", nullptr, 1},
    {"--mca", nullptr, 2},
    {"-mca", nullptr, 2},
    {"--report-bindings", nullptr, 0},
    {"--allow-run-as-root", nullptr, 0, true},
    {"-allow-run-as-root", nullptr, 0, true},
    {"-q", nullptr, 0, true},
};

// Which of our own options take a value, so that the program's name is found.
constexpr const char* kWithValue[] = {"-n",        "--np",      "-H",      "--host",    "-x",
                                      "--bind-to", "--timeout", "--agent", "--address", "--wdir"};

struct Raw {
  std::string n;
  std::string hosts;
  std::string timeout;
  std::string bind = "none";
  std::string agent;
  std::vector<std::string> exports;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Puts our spelling in place of others' and takes out what has no effect, up to the program's name.
std::vector<std::string> translate(int argc, char** argv, std::vector<std::string>* ignored) {
  std::vector<std::string> out;
  int at = 1;
  while (at < argc && argv[at][0] == '-' && std::strcmp(argv[at], "--") != 0) {
    const std::string word = argv[at];
    const auto* alias = std::find_if(std::begin(kAliases), std::end(kAliases),
                                     [&](const Alias& one) { return word == one.name; });
    ++at;
    if (alias != std::end(kAliases)) {
      if (alias->ours != nullptr) out.emplace_back(alias->ours);
      if (alias->ours == nullptr && !alias->silent) ignored->push_back(word);
      for (int i = 0; i < alias->values && at < argc; ++i, ++at) {
        if (alias->ours != nullptr) out.emplace_back(argv[at]);
      }
      continue;
    }
    out.push_back(word);
    const bool with_value = std::any_of(std::begin(kWithValue), std::end(kWithValue),
                                        [&](const char* one) { return word == one; });
    if (with_value && at < argc) out.emplace_back(argv[at++]);
  }
  for (; at < argc; ++at) out.emplace_back(argv[at]);
  return out;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != std::string::npos) {
    const size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// NAME=value as it stands, NAME with the value that it has here.
Status add_export(const std::string& text, std::vector<std::string>* environment) {
  const std::string name = text.substr(0, text.find('='));
  if (name.empty()) return SYMM_ERROR(kInvalidParam, "-x: '{}' has no name", text);
  if (name.size() < text.size()) {
    environment->push_back(text);
    return {};
  }
  auto value = config::raw(name.c_str());
  if (!value)
    return SYMM_ERROR(kInvalidParam, "-x: {} is not set here; write {}=value", name, name);
  environment->push_back(name + "=" + *value);
  return {};
}

Status check_hosts(const Raw& raw, Options* out) {
  if (!raw.hosts.empty()) {
    auto hosts = parse_hosts(raw.hosts);
    if (!hosts.ok()) return std::move(hosts.status()).with_context("-H");
    out->hosts = std::move(hosts.value());
  }
  if (raw.n.empty() && out->hosts.empty()) {
    return SYMM_ERROR(kInvalidParam, "-n N, the number of PEs, is missing");
  }
  const std::string n = raw.n.empty() ? std::to_string(total_slots(out->hosts)) : raw.n;
  auto n_pes = config::parse_integer(n, 1, kMaxPes);
  if (!n_pes.ok()) return std::move(n_pes.status()).with_context("-n");
  out->n_pes = static_cast<int>(n_pes.value());
  if (!out->hosts.empty()) {
    auto placed = place_pes(out->hosts, out->n_pes, out->oversubscribe);
    if (!placed.ok()) return std::move(placed.status()).with_context("-n");
  }
  out->agent = words_of(raw.agent.empty() ? kDefaultAgent : raw.agent);
  if (out->agent.empty()) return SYMM_ERROR(kInvalidParam, "--agent: no command");
  return {};
}

Status check(const Raw& raw, bool as_oshrun, std::vector<std::string>& ignored, Options* out) {
  SYMM_TRY(check_hosts(raw, out));
  if (!raw.timeout.empty()) {
    auto seconds = config::parse_integer(raw.timeout, 1, kMaxTimeout);
    if (!seconds.ok()) return std::move(seconds.status()).with_context("--timeout");
    out->timeout_s = static_cast<int>(seconds.value());
  }
  if (raw.bind != "core" && raw.bind != "none") {
    if (!as_oshrun) {
      return SYMM_ERROR(kInvalidParam, "--bind-to: '{}' is neither core nor none", raw.bind);
    }
    ignored.push_back("--bind-to " + raw.bind);
  }
  out->bind_to_core = raw.bind == "core";
  for (const std::string& text : raw.exports) SYMM_TRY(add_export(text, &out->environment));
  if (out->command.empty()) return SYMM_ERROR(kInvalidParam, "the program to run is missing");
  if (out->command.front().starts_with("-")) {
    return SYMM_ERROR(kInvalidParam, "option {} is unknown", out->command.front());
  }
  for (const std::string& one : ignored) {
    out->note += out->note.empty() ? "without effect here: " + one : ", " + one;
  }
  return {};
}

void describe(CLI::App& app, Raw* raw, Options* options) {
  app.add_option("-n,--np", raw->n, "number of PEs; with -H the number of slots when left out");
  app.add_option("-H,--host", raw->hosts,
                 "hosts with their slots: host1,host2:4,[fd00::1]:2; filled in this order");
  app.add_flag("--oversubscribe", options->oversubscribe, "allow more PEs than slots");
  app.add_option("-x", raw->exports, "NAME or NAME=value: environment of all PEs; SHMEM_* always")
      ->allow_extra_args(false);
  app.add_option("--wdir", options->folder, "working folder of the PEs");
  app.add_option("--agent", raw->agent,
                 "command that runs a command on a host: AGENT HOST COMMAND; default\n" +
                     std::string(kDefaultAgent) + ", or SHMEM_RUN_AGENT");
  app.add_option("--address", options->address,
                 "name or address of PE 0's host for the other hosts; found out when left out");
  app.add_flag("--prefix-output", options->prefix_output,
               "put [PE] in front of every line of output");
  app.add_option("--timeout", raw->timeout, "end the job after S seconds with exit code 124");
  app.add_option("--bind-to", raw->bind, "core: each PE on its own processor; none (default)");
  app.set_version_flag("--version", std::string("shmem-run ") + kVersion);
  app.footer(
      "In the program's arguments {pe}, {npes} and {address} stand for the PE number, the number "
      "of PEs and the\n"
      "address of PE 0. The exit code is that of the first PE that failed, 128 + signal if a "
      "signal ended it, 255 if its host was lost.");
  // From the program's name on, nothing is an option of ours.
  app.prefix_command();
}

}  // namespace

Result<Options> parse_options(int argc, char** argv) {
  Options options;
  Raw raw;
  raw.agent = config::text("SHMEM_RUN_AGENT");
  std::vector<std::string> ignored;
  std::vector<std::string> words = translate(argc, argv, &ignored);
  CLI::App app("Runs a SHMEM program with N PEs on this host, or on several.", "shmem-run");
  describe(app, &raw, &options);
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(words);
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
  const std::string_view name = argv[0];
  const bool as_oshrun = name.substr(name.rfind('/') + 1) == "oshrun";
  SYMM_TRY(check(raw, as_oshrun, ignored, &options));
  return options;
}

std::string substitute(std::string argument, int pe, int n_pes, const std::string& address) {
  replace_all(argument, "{pe}", std::to_string(pe));
  replace_all(argument, "{npes}", std::to_string(n_pes));
  replace_all(argument, "{address}", address);
  return argument;
}

}  // namespace symm::launcher
