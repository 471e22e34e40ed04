// The instances of this process: which exist, and which one the C calls of a thread mean. The only
// writable statics of the module. Threads: any. Ownership: the registry owns what was put in with
// add().
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "core/route.h"

namespace symm {

class Instance;
class PeerMemory;

namespace detail {
// initial-exec and constinit: one load from the thread's own block, no call into the loader or an
// initialiser
extern constinit thread_local Instance* t_selected __attribute__((tls_model("initial-exec")));
extern Instance* g_current;     // atomic
extern const FastPath* g_fast;  // atomic; of g_current, or one that lets no call pass
}  // namespace detail

// The instance this thread selected for itself, else the one of the process; null when there is
// none.
inline Instance* current() {
  if (detail::t_selected != nullptr) [[unlikely]]
    return detail::t_selected;
  // acquire: pairs with the release that published the instance
  return __atomic_load_n(&detail::g_current, __ATOMIC_ACQUIRE);
}

// The short way of data calls for the instance of the process; a thread's own choice is looked at
// first by who calls this.
inline const FastPath& process_fast_path() {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  // a plain load is an acquire here, and takes one instruction less than the builtin
  return **const_cast<const FastPath* const volatile*>(&detail::g_fast);
#else
  // acquire: pairs with the release that published the instance
  return *__atomic_load_n(&detail::g_fast, __ATOMIC_ACQUIRE);
#endif
}

// Why current() is null: never initialised, finalized, or a forked child.
Status not_initialized(const char* call);

// Keeps the instance under its id and makes it current for the process. The id must be free.
void add_instance(std::unique_ptr<Instance> instance);
// Takes it out; whoever selected it has no instance afterwards. Null when the id is unknown. When
// it was current, the instance with id 0 becomes current if there is one.
std::unique_ptr<Instance> remove_instance(uint64_t id);
Instance* find_instance(uint64_t id);
// Every instance that was added has a number of its own, counted from 1 over the life of the
// process; 0 and null when there is none.
uint64_t number_of(const Instance* instance);
Instance* find_numbered(uint64_t number);
Status select_for_process(uint64_t id);
// Only for this thread, until it selects another; `nothing` returns to the one of the process.
Status select_for_thread(uint64_t id);
void select_nothing_for_thread();

// Selects an instance for this thread while the object lives.
class ScopedInstance {
 public:
  explicit ScopedInstance(Instance* instance) : before_(detail::t_selected) {
    detail::t_selected = instance;
  }
  ~ScopedInstance() { detail::t_selected = before_; }
  ScopedInstance(const ScopedInstance&) = delete;
  ScopedInstance& operator=(const ScopedInstance&) = delete;

 private:
  Instance* before_;
};

// Called by Instance: it is open and must say goodbye if the process exits; it is gone.
void watch_exit_of(Instance* instance);
void forget_exit_of(Instance* instance);
// Memory that other threads of this process may still look at; stays mapped until the process ends.
void keep_mapped(std::unique_ptr<PeerMemory> memory);
// True in a process that was forked from one with instances; they stay with the parent.
bool is_forked_child();

// The end of an error at the C edge: logs it once, keeps the first one in the instance, aborts when
// SHMEM_ON_ERROR says so.
void record_error(Instance& instance, const Status& status);
void report_error(const Status& status);

}  // namespace symm
