#include "core/current.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "base/config.h"
#include "base/log.h"
#include "core/instance.h"
#include "core/report_signal.h"

namespace symm {
namespace detail {

constinit thread_local Instance* t_selected __attribute__((tls_model("initial-exec"))) = nullptr;
Instance* g_current = nullptr;
static constexpr FastPath kNoInstance{};
const FastPath* g_fast = &kNoInstance;

}  // namespace detail

namespace {

struct Registry {
  std::mutex mutex;
  std::map<uint64_t, std::unique_ptr<Instance>> by_id;
  std::map<const Instance*, uint64_t> numbers;
  uint64_t last_number = 0;
  std::vector<Instance*> open;  // also those that are not in by_id
  bool ever = false;
  std::unique_ptr<ReportSignal> reports;  // while instances are open
  std::vector<std::unique_ptr<PeerMemory>> kept;
};

// Never destroyed: threads may still look while the process exits.
Registry& registry() {
  static auto* one = new Registry;
  return *one;
}

// pid of the parent in a forked child, else 0; atomic
pid_t g_forked_from = 0;

void set_current(Instance* instance) {
  // release: who reads the pointer sees the instance complete
  __atomic_store_n(&detail::g_current, instance, __ATOMIC_RELEASE);
  __atomic_store_n(&detail::g_fast, instance != nullptr ? &instance->fast() : &detail::kNoInstance,
                   __ATOMIC_RELEASE);
}

// The child shares memory and connections with its parent and must touch neither. It keeps the
// objects (their destructors would act for the parent) and starts over.
void in_forked_child() {
  detail::t_selected = nullptr;
  if (registry().open.empty()) return;
  for (Instance* instance : registry().open) instance->in_forked_child();
  set_current(nullptr);
  __atomic_store_n(&g_forked_from, ::getppid(), __ATOMIC_RELAXED);
  for (auto& [id, instance] : registry().by_id) (void)instance.release();
  registry().by_id.clear();
  registry().numbers.clear();
  registry().open.clear();
  ReportSignal::in_forked_child();
  (void)registry().reports.release();
}

// The program ends without finalize: peers must hear that, and not take it for a crash.
void at_exit() {
  std::vector<Instance*> open;
  {
    std::lock_guard lock(registry().mutex);
    open.swap(registry().open);
  }
  for (Instance* instance : open) instance->leave_at_exit();
}

void install_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::atexit(at_exit);
    ::pthread_atfork([] { registry().mutex.lock(); }, [] { registry().mutex.unlock(); },
                     [] {
                       registry().mutex.unlock();
                       in_forked_child();
                     });
  });
}

}  // namespace

bool is_forked_child() { return __atomic_load_n(&g_forked_from, __ATOMIC_RELAXED) != 0; }

Status not_initialized(const char* call) {
  if (pid_t parent = __atomic_load_n(&g_forked_from, __ATOMIC_RELAXED); parent != 0) {
    return SYMM_ERROR(kNotInitialized,
                      "{}: this process was forked from process {} after init; its instances stay "
                      "with the parent, call init here to get one",
                      call, parent);
  }
  std::lock_guard lock(registry().mutex);
  if (registry().ever) {
    return SYMM_ERROR(kNotInitialized, "{}: called after finalize; call init again", call);
  }
  return SYMM_ERROR(kNotInitialized, "{}: called before init; call aclshmemx_init_attr first",
                    call);
}

void add_instance(std::unique_ptr<Instance> instance) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  Instance* raw = instance.get();
  all.by_id[raw->id()] = std::move(instance);
  all.numbers[raw] = ++all.last_number;
  set_current(raw);
}

std::unique_ptr<Instance> remove_instance(uint64_t id) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  auto found = all.by_id.find(id);
  if (found == all.by_id.end()) return nullptr;
  std::unique_ptr<Instance> instance = std::move(found->second);
  all.by_id.erase(found);
  all.numbers.erase(instance.get());
  if (detail::t_selected == instance.get()) detail::t_selected = nullptr;
  const bool was_current = __atomic_load_n(&detail::g_current, __ATOMIC_RELAXED) == instance.get();
  if (was_current || id != 0) {
    auto zero = all.by_id.find(0);
    set_current(zero == all.by_id.end() ? nullptr : zero->second.get());
  }
  return instance;
}

Instance* find_instance(uint64_t id) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  auto found = all.by_id.find(id);
  return found == all.by_id.end() ? nullptr : found->second.get();
}

uint64_t number_of(const Instance* instance) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  auto found = all.numbers.find(instance);
  return found == all.numbers.end() ? 0 : found->second;
}

Instance* find_numbered(uint64_t number) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  for (auto& [id, instance] : all.by_id) {
    if (all.numbers[instance.get()] == number) return instance.get();
  }
  return nullptr;
}

Status select_for_process(uint64_t id) {
  Registry& all = registry();
  std::lock_guard lock(all.mutex);
  auto found = all.by_id.find(id);
  if (found == all.by_id.end()) return SYMM_ERROR(kInternal, "there is no instance {}", id);
  set_current(found->second.get());
  return {};
}

Status select_for_thread(uint64_t id) {
  Instance* instance = find_instance(id);
  if (instance == nullptr) return SYMM_ERROR(kInternal, "there is no instance {}", id);
  detail::t_selected = instance;
  return {};
}

void select_nothing_for_thread() { detail::t_selected = nullptr; }

void watch_exit_of(Instance* instance) {
  install_handlers();
  std::lock_guard lock(registry().mutex);
  registry().open.push_back(instance);
  if (!registry().reports) {
    registry().reports = std::make_unique<ReportSignal>();
    // Without it everything else works.
    if (Status status = registry().reports->start(); !status.ok()) {
      SYMM_LOG(kWarn, "{}", status.to_string());
    }
  }
  registry().ever = true;
  __atomic_store_n(&g_forked_from, 0, __ATOMIC_RELAXED);
}

void forget_exit_of(Instance* instance) {
  std::lock_guard lock(registry().mutex);
  std::erase(registry().open, instance);
  if (registry().open.empty()) registry().reports.reset();
}

void keep_mapped(std::unique_ptr<PeerMemory> memory) {
  std::lock_guard lock(registry().mutex);
  registry().kept.push_back(std::move(memory));
}

void report_error(const Status& status) {
  SYMM_LOG(kError, "{}", status.to_string());
  if (config::text("SHMEM_ON_ERROR") == "abort") std::abort();
}

void record_error(Instance& instance, const Status& status) {
  instance.health().record(status);
  report_error(status);
}

}  // namespace symm
