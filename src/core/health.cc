#include "core/health.h"

#include "os/wait.h"

namespace symm {

void Health::lose(Code code, int pe, std::string text) {
  std::lock_guard lock(mutex_);
  if (code_ != Code::kOk) return;
  code_ = code;
  pe_ = pe;
  why_ = std::move(text);
  // release: a wait that sees the word may read the reason (under the mutex) and what came before
  // the death
  __atomic_store_n(&word_, 1u, __ATOMIC_RELEASE);
  if (events_ != nullptr) os::notify(*events_);
}

bool Health::lost() const {
  // acquire: pairs with the store in lose()
  return __atomic_load_n(&word_, __ATOMIC_ACQUIRE) != 0;
}

std::string Health::why() const {
  std::lock_guard lock(mutex_);
  return why_;
}

int Health::lost_pe() const {
  std::lock_guard lock(mutex_);
  return pe_;
}

Status Health::check() const {
  if (!lost()) return {};
  std::lock_guard lock(mutex_);
  return Status(code_, why_, __FILE__, __LINE__);
}

void Health::set_events(symm_event_count* events) {
  std::lock_guard lock(mutex_);
  events_ = events;
}

bool Health::record(const Status& status) {
  std::lock_guard lock(mutex_);
  if (!first_.ok()) return false;
  first_ = status.clone();
  return true;
}

Status Health::first_error() const {
  std::lock_guard lock(mutex_);
  return first_.clone();
}

void Health::clear_error() {
  std::lock_guard lock(mutex_);
  first_ = Status();
}

}  // namespace symm
