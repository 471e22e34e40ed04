#include "bootstrap/mpi/mpi_world.h"

#include <string_view>
#include <utility>

#include "base/config.h"
#include "base/log.h"
#include "bootstrap/launch_env.h"

namespace symm::bootstrap {
namespace {

#if defined(OPEN_MPI)
constexpr std::string_view kBuiltFor = "Open MPI";
#elif defined(MPICH_VERSION)
constexpr std::string_view kBuiltFor = "MPICH";
#else
constexpr std::string_view kBuiltFor = "";
#endif

const char* level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    case MPI_THREAD_MULTIPLE:
      return "MPI_THREAD_MULTIPLE";
    default:
      return "an unknown thread level";
  }
}

// "Open MPI v4.1.4, package: ..." up to the first comma or line end.
std::string library_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string_view whole(text);
  return std::string(whole.substr(0, whole.find_first_of(",\n")));
}

// The handles of one MPI mean nothing to another one, and a program that is linked to the other
// one gets its functions first. This call takes no handle, so it is safe in both.
Status check_library() {
  std::string name = library_name();
  if (kBuiltFor.empty() || name.starts_with(kBuiltFor)) return {};
  return SYMM_ERROR(kBootstrap,
                    "this program runs {}, but the MPI plug-in was built for {}; build AnySHMEM "
                    "with that MPI, or start in unique-id mode",
                    name, kBuiltFor);
}

// A launcher of another MPI leaves every process alone in a world of its own.
Status check_alone() {
  int size = 0;
  SYMM_TRY(mpi_status(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size"));
  if (size != 1) return {};
  // Only the numbers count here; a launcher needs no address when MPI finds the others.
  auto launcher = detect_launch_env([](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "SHMEM_BOOTSTRAP") return "tcp://found-by-mpi:1";
    return config::raw(name);
  });
  if (!launcher.ok() || launcher.value().n_pes <= 1) return {};
  const LaunchEnv& env = launcher.value();
  return SYMM_ERROR(kBootstrap,
                    "{} says that this is PE {} of {}, but MPI ({}) sees one process only: the "
                    "launcher belongs to another MPI; use its own mpirun, or init without "
                    "ACLSHMEMX_INIT_WITH_MPI",
                    env.source, env.pe, env.n_pes, library_name());
}

}  // namespace

Status mpi_status(int code, const char* call) {
  if (code == MPI_SUCCESS) return {};
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return SYMM_ERROR(kBootstrap, "{} failed: {}", call, text);
}

MpiWorld& MpiWorld::get() {
  static auto* world = new MpiWorld();
  return *world;
}

bool MpiWorld::finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

Status MpiWorld::start() {
  SYMM_TRY(check_library());
  if (finalized()) {
    return SYMM_ERROR(kBootstrap,
                      "MPI is already finalized in this process and cannot start again; call "
                      "MPI_Init in the program and MPI_Finalize after the last use");
  }
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) {
    SYMM_TRY(mpi_status(MPI_Query_thread(&level_), "MPI_Query_thread"));
  } else {
    int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level_);
    SYMM_TRY(mpi_status(code, "MPI_Init_thread"));
    started_ = true;
  }
  if (level_ < MPI_THREAD_MULTIPLE) {
    SYMM_LOG(kInfo, "MPI gives {}: control operations of SHMEM are {}", level_name(level_),
             level_ == MPI_THREAD_SERIALIZED ? "serialised" : "for the main thread only");
  }
  return check_alone();
}

Status MpiWorld::acquire() {
  std::lock_guard lock(state_mutex_);
  if (!failure_.empty()) {
    return SYMM_ERROR(kBootstrap,
                      "MPI cannot be used any more in this process since an earlier operation "
                      "never completed ({}); start the job again",
                      failure_);
  }
  if (users_ == 0) {
    Status status = start();
    if (!status.ok()) {
      if (std::exchange(started_, false)) MPI_Finalize();
      return status;
    }
  }
  ++users_;
  return {};
}

void MpiWorld::release() {
  std::lock_guard lock(state_mutex_);
  if (--users_ > 0 || !started_ || finalized()) return;
  started_ = false;
  if (!failure_.empty()) {
    SYMM_LOG(kWarn, "MPI_Finalize is left out since it would wait for PEs that are not there");
    return;
  }
  MPI_Finalize();
}

Status MpiWorld::check_call() const {
  if (finalized()) {
    return SYMM_ERROR(kBootstrap, "MPI was finalized before SHMEM and no other way is left");
  }
  if (level_ >= MPI_THREAD_SERIALIZED) return {};
  int main_thread = 0;
  SYMM_TRY(mpi_status(MPI_Is_thread_main(&main_thread), "MPI_Is_thread_main"));
  if (main_thread != 0) return {};
  return SYMM_ERROR(kBootstrap,
                    "MPI was started with {} and this is not its main thread; call "
                    "MPI_Init_thread with MPI_THREAD_MULTIPLE, or make this call from the main "
                    "thread",
                    level_name(level_));
}

std::unique_lock<std::mutex> MpiWorld::lock() {
  if (level_ >= MPI_THREAD_MULTIPLE) return {};
  return std::unique_lock(call_mutex_);
}

void MpiWorld::abandon(std::unique_ptr<MpiPending> pending, const std::string& why) {
  std::lock_guard lock(state_mutex_);
  kept_.push_back(std::move(pending));
  if (failure_.empty()) failure_ = why;
}

std::string MpiWorld::describe() const {
  return fmt::format("{}, {}", library_name(), level_name(level_));
}

}  // namespace symm::bootstrap
