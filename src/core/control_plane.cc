#include "core/control_plane.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace symm {
namespace {

Status to_status(int code, const char* text, const char* what) {
  if (code == 0) return {};
  return Status(static_cast<Code>(code), fmt::format("{}: {}", what, text), __FILE__, __LINE__);
}

// What one PE says about a step that it made alone.
struct Verdict {
  int32_t code;
  char text[252];
};

}  // namespace

Result<std::unique_ptr<ControlPlane>> ControlPlane::open(const symm_bootstrap_table* table,
                                                         symm_bootstrap_config& config) {
  char error[512] = "";
  void* handle = nullptr;
  int code = table->open(&config, &handle, error, sizeof(error));
  SYMM_TRY(to_status(code, error, "bootstrap"));
  return std::unique_ptr<ControlPlane>(new ControlPlane(table, handle, config.n_pes));
}

Status ControlPlane::allgather(const void* in, size_t bytes, void* out, const char* what) {
  std::lock_guard lock(mutex_);
  SYMM_TRY(is_open(what));
  char error[512] = "";
  int code = table_->allgather(handle_, in, bytes, out, what, error, sizeof(error));
  return to_status(code, error, what);
}

Status ControlPlane::barrier(const char* what) {
  std::lock_guard lock(mutex_);
  SYMM_TRY(is_open(what));
  char error[512] = "";
  int code = table_->barrier(handle_, what, error, sizeof(error));
  return to_status(code, error, what);
}

Status ControlPlane::agree(Status mine, const char* what) {
  Verdict verdict{static_cast<int32_t>(mine.code()), {}};
  size_t length = std::min(mine.text().size(), sizeof(verdict.text) - 1);
  if (!mine.ok()) std::memcpy(verdict.text, mine.text().data(), length);
  auto all = allgather(verdict, what);
  // Its own failure explains more than the failure to tell the others.
  if (!mine.ok()) return mine;
  if (!all.ok()) return std::move(all.status());
  for (size_t pe = 0; pe < all.value().size(); ++pe) {
    Verdict& one = all.value()[pe];
    one.text[sizeof(one.text) - 1] = '\0';
    if (one.code != 0) {
      return Status(static_cast<Code>(one.code), fmt::format("{}: PE {}: {}", what, pe, one.text),
                    __FILE__, __LINE__);
    }
  }
  return {};
}

Status ControlPlane::is_open(const char* what) const {
  if (handle_ != nullptr) return {};
  return SYMM_ERROR(kBootstrap, "{}: this PE has left the job", what);
}

Status ControlPlane::global_exit(int status) {
  SYMM_TRY(is_open("global exit"));
  char error[512] = "";
  return to_status(table_->global_exit(handle_, status, error, sizeof(error)), error,
                   "global exit");
}

std::string ControlPlane::info() {
  std::lock_guard lock(mutex_);
  char text[512] = "";
  if (handle_ == nullptr) return "closed";
  table_->info(handle_, text, sizeof(text));
  return text;
}

Result<symm_tls_status> ControlPlane::tls_status() {
  SYMM_TRY(is_open("TLS status"));
  std::lock_guard lock(mutex_);
  if (table_->tls_status == nullptr) {
    return SYMM_ERROR(
        kNotSupported,
        "the control plane of this job is that of its launcher ({}), which has no TLS "
        "of ours",
        table_->name);
  }
  symm_tls_status out{};
  table_->tls_status(handle_, &out);
  return out;
}

Result<os::Digest> ControlPlane::job_key() {
  std::lock_guard lock(mutex_);
  char error[512] = "";
  os::Digest key;
  SYMM_TRY(to_status(table_->job_key(handle_, key.data(), error, sizeof(error)), error, "job key"));
  return key;
}

void ControlPlane::refuse(const symm_bootstrap_table* table, const symm_bootstrap_config& config,
                          const Status& why) {
  if (table->refuse == nullptr) return;
  table->refuse(&config, std::string(why.text()).c_str());
}

void ControlPlane::hurry() {
  std::lock_guard lock(mutex_);
  if (handle_ != nullptr && table_->hurry != nullptr) table_->hurry(handle_);
}

void ControlPlane::in_forked_child() {
  if (handle_ != nullptr && table_->forked != nullptr) table_->forked(handle_);
}

void ControlPlane::close() {
  std::lock_guard lock(mutex_);
  if (handle_ != nullptr) table_->close(std::exchange(handle_, nullptr));
}

}  // namespace symm
