#include "bootstrap/launch_env.h"

#include <cstdint>

#include "base/config.h"

namespace symm::bootstrap {
namespace {

constexpr int kMaxPes = 16384;
constexpr int kDefaultPort = 8666;

constexpr const char* kRemedy =
    "start the program with shmem-run, set SHMEM_PE, SHMEM_NPES and "
    "SHMEM_BOOTSTRAP=tcp://host:port, or pass attributes to init";

// A launcher that tells numbers only.
struct BareLauncher {
  const char* source;
  const char* rank;
  const char* sizes[2];  // the first that is set counts
  const char* local_size;
};

constexpr BareLauncher kTorchrun = {"torchrun", "RANK", {"WORLD_SIZE"}, "LOCAL_WORLD_SIZE"};
constexpr BareLauncher kSlurm = {
    "Slurm", "SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}, nullptr};
constexpr BareLauncher kBareLaunchers[] = {
    kTorchrun,
    {"Open MPI", "OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}, "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI", "PMI_RANK", {"PMI_SIZE"}, "MPI_LOCALNRANKS"},
    kSlurm,
};

class Detector {
 public:
  explicit Detector(const GetVariable& get) : get_(get) {}

  Result<LaunchEnv> run() {
    if (has("SHMEM_PE") || has("SHMEM_NPES")) return own();
    bool inside_torchrun = has("TORCHELASTIC_RUN_ID");
    bool exchange = !has("SHMEM_BOOTSTRAP") && !inside_torchrun;
    if (exchange && has("PMI_FD")) return pmi1();
    if (exchange && has("PMIX_RANK") && has("PMIX_NAMESPACE") && has_pmix_server()) return pmix();
    for (const BareLauncher& launcher : kBareLaunchers) {
      if (has(launcher.rank) || size_name(launcher) != nullptr) return bare(launcher);
    }
    return nothing();
  }

 private:
  bool has(const char* name) const { return value(name).has_value(); }

  // An empty variable counts as unset.
  std::optional<std::string> value(const char* name) const {
    auto text = get_(name);
    if (text && text->empty()) return std::nullopt;
    return text;
  }

  bool has_pmix_server() const {
    for (const char* name : {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                             "PMIX_SERVER_URI21", "PMIX_SERVER_URI2", "PMIX_SERVER_URI"}) {
      if (has(name)) return true;
    }
    return false;
  }

  const char* size_name(const BareLauncher& launcher) const {
    for (const char* name : launcher.sizes) {
      if (name != nullptr && has(name)) return name;
    }
    return nullptr;
  }

  Status read(const char* name, int64_t low, int64_t high, int& out) const {
    auto text = value(name);
    auto number = config::parse_integer(text ? *text : "", low, high);
    if (!number.ok()) return std::move(number.status()).with_context(name);
    out = static_cast<int>(number.value());
    return {};
  }

  Status read_if_set(const char* name, int64_t low, int64_t high, int& out) const {
    if (name == nullptr || !has(name)) return {};
    return read(name, low, high, out);
  }

  // Rank and size of one launcher; both, or an error that names the absent one.
  Status read_pair(const char* source, const char* rank, const char* size, LaunchEnv& env) const {
    env.source = source;
    SYMM_TRY(require(source, rank, size));
    SYMM_TRY(read(size, 1, kMaxPes, env.n_pes));
    if (env.n_pes == 1 && !has(rank)) return {};
    SYMM_TRY(require(source, size, rank));
    SYMM_TRY(read(rank, 0, kMaxPes - 1, env.pe));
    if (env.pe < env.n_pes) return {};
    return SYMM_ERROR(kInvalidValue, "{}={} is not below {}={}", rank, env.pe, size, env.n_pes);
  }

  Status require(const char* source, const char* present, const char* wanted) const {
    if (has(wanted)) return {};
    return SYMM_ERROR(kBootstrap,
                      "variables of {} are incomplete: {} is set but {} is not; unset it, or {}",
                      source, present, wanted, kRemedy);
  }

  Result<LaunchEnv> own() const {
    LaunchEnv env;
    env.kind = LaunchKind::kOwn;
    SYMM_TRY(read_pair("shmem-run", "SHMEM_PE", "SHMEM_NPES", env));
    if (env.n_pes > 1) SYMM_TRY(require("shmem-run", "SHMEM_NPES", "SHMEM_BOOTSTRAP"));
    env.address = value("SHMEM_BOOTSTRAP").value_or("");
    SYMM_TRY(read_if_set("SHMEM_LOCAL_PES", 0, kMaxPes, env.local_pes));
    return env;
  }

  Result<LaunchEnv> pmi1() const {
    LaunchEnv env;
    env.kind = LaunchKind::kPmi1;
    int fd = -1;
    SYMM_TRY(read("PMI_FD", 0, INT32_MAX, fd));
    SYMM_TRY(require("PMI", "PMI_FD", "PMI_SIZE"));
    SYMM_TRY(read_pair("PMI", "PMI_RANK", "PMI_SIZE", env));
    SYMM_TRY(read_if_set("MPI_LOCALNRANKS", 0, kMaxPes, env.local_pes));
    return env;
  }

  // PMIx tells the size by call only; the variables that Open MPI and Slurm add are a short cut.
  Result<LaunchEnv> pmix() const {
    LaunchEnv env;
    env.kind = LaunchKind::kPmix;
    env.source = "PMIx";
    env.n_pes = 0;
    SYMM_TRY(read("PMIX_RANK", 0, kMaxPes - 1, env.pe));
    SYMM_TRY(read_if_set("OMPI_COMM_WORLD_SIZE", 1, kMaxPes, env.n_pes));
    SYMM_TRY(read_if_set("OMPI_COMM_WORLD_LOCAL_SIZE", 0, kMaxPes, env.local_pes));
    if (env.n_pes == 0 || env.pe < env.n_pes) return env;
    return SYMM_ERROR(kInvalidValue, "PMIX_RANK={} is not below OMPI_COMM_WORLD_SIZE={}", env.pe,
                      env.n_pes);
  }

  Result<LaunchEnv> bare(const BareLauncher& launcher) const {
    LaunchEnv env;
    env.kind = LaunchKind::kBare;
    const char* size = size_name(launcher);
    SYMM_TRY(read_pair(launcher.source, launcher.rank, size ? size : default_size(launcher), env));
    SYMM_TRY(read_if_set(launcher.local_size, 0, kMaxPes, env.local_pes));
    bool slurm = launcher.rank == kSlurm.rank;
    if (slurm && one_slurm_node()) env.local_pes = env.n_pes;
    if (env.n_pes == 1) return env;
    SYMM_TRY(find_address(slurm, env));
    return env;
  }

  // The size variable to ask for in a message when none is set.
  static const char* default_size(const BareLauncher& launcher) {
    return launcher.sizes[1] != nullptr ? launcher.sizes[1] : launcher.sizes[0];
  }

  Status find_address(bool slurm, LaunchEnv& env) const {
    if (auto given = value("SHMEM_BOOTSTRAP")) {
      env.address = *given;
      return {};
    }
    if (auto host = value("MASTER_ADDR")) {
      int master_port = 0;
      SYMM_TRY(read_if_set("MASTER_PORT", 1, 65535, master_port));
      int port = master_port == 0 ? kDefaultPort : derived_port(static_cast<uint64_t>(master_port));
      env.address = launch_address(*host, port);
      return {};
    }
    if (slurm) SYMM_TRY(slurm_address(env.address));
    if (!env.address.empty()) return {};
    return SYMM_ERROR(kBootstrap,
                      "{} says that this is PE {} of {}, but there is no way to find PE 0: no "
                      "usable PMI_FD, PMIX_SERVER_URI or MASTER_ADDR; set "
                      "SHMEM_BOOTSTRAP=tcp://host:port of PE 0, or {}",
                      env.source, env.pe, env.n_pes, kRemedy);
  }

  bool one_slurm_node() const {
    auto nodes = value("SLURM_STEP_NUM_NODES");
    if (!nodes) nodes = value("SLURM_NNODES");
    return nodes && *nodes == "1";
  }

  // The first host of a step runs task 0, unless the user asked for an arbitrary distribution.
  Status slurm_address(std::string& address) const {
    auto hosts = value("SLURM_STEP_NODELIST");
    if (!hosts) hosts = value("SLURM_JOB_NODELIST");
    std::string host = one_slurm_node() ? "127.0.0.1" : hosts ? first_slurm_host(*hosts) : "";
    if (host.empty() || !has("SLURM_JOB_ID")) return {};
    int job = 0;
    int step = 0;
    SYMM_TRY(read("SLURM_JOB_ID", 0, INT32_MAX, job));
    SYMM_TRY(read_if_set("SLURM_STEP_ID", 0, INT32_MAX, step));
    uint64_t seed = static_cast<uint64_t>(job) * 61 + static_cast<uint64_t>(step);
    address = launch_address(host, derived_port(seed));
    return {};
  }

  Result<LaunchEnv> nothing() const {
    for (const char* name : {"SHMEM_BOOTSTRAP", "PMIX_RANK", "TORCHELASTIC_RUN_ID"}) {
      if (!has(name)) continue;
      return SYMM_ERROR(kBootstrap,
                        "{} is set, but no variable tells the PE number and the number of PEs; "
                        "unset it, or {}",
                        name, kRemedy);
    }
    LaunchEnv env;
    env.source = "no launcher";
    return env;
  }

  const GetVariable& get_;
};

}  // namespace

Result<LaunchEnv> detect_launch_env(const GetVariable& get) { return Detector(get).run(); }

Result<LaunchEnv> detect_launch_env() {
  return detect_launch_env([](const char* name) { return config::raw(name); });
}

std::string launch_address(const std::string& host, int port) {
  if (host.find(':') == std::string::npos) return fmt::format("tcp://{}:{}", host, port);
  bool bracketed = host.front() == '[';
  return bracketed ? fmt::format("tcp6://{}:{}", host, port)
                   : fmt::format("tcp6://[{}]:{}", host, port);
}

int derived_port(uint64_t seed) { return 10240 + static_cast<int>(seed % 16384); }

std::string first_slurm_host(const std::string& list) {
  std::string host;
  for (size_t at = 0; at < list.size() && list[at] != ','; ++at) {
    if (list[at] != '[') {
      host += list[at];
      continue;
    }
    size_t end = list.find_first_of("-,]", at);
    size_t close = list.find(']', at);
    if (end == std::string::npos || close == std::string::npos) return "";
    host += list.substr(at + 1, end - at - 1);
    at = close;
  }
  return host;
}

}  // namespace symm::bootstrap
