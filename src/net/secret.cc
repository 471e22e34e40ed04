#include "net/secret.h"

#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/config.h"
#include "base/scope_exit.h"
#include "base/unique_fd.h"

namespace symm::net {
namespace {

constexpr size_t kMaxSecretBytes = 4096;
constexpr const char* kCure =
    "name another place with SHMEM_SECRET_FILE, or set SHMEM_JOB_SECRET on all PEs";

std::string error_text() { return std::strerror(errno); }

Status make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    std::string folder = path.substr(0, at);
    if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) continue;
    int reason = errno;
    struct stat info;
    if (stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;  // read-only parent
    return SYMM_ERROR(kInternal, "secret file {}: cannot make folder {}: {}; {}", path, folder,
                      std::strerror(reason), kCure);
  }
  return {};
}

Status write_all(int fd, std::string_view data, const std::string& path) {
  while (!data.empty()) {
    ssize_t count = write(fd, data.data(), data.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return SYMM_ERROR(kInternal, "secret file {}: {}", path, error_text());
    data.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

// Writes a file of our own beside the target and links it there: the link either makes the complete
// file appear or fails because another process was first. Both are fine.
Status create_secret(const std::string& path) {
  SYMM_TRY(make_folders(path));
  std::string temporary = path + ".XXXXXX";
  UniqueFd fd(mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!fd.valid()) {
    return SYMM_ERROR(kInternal, "secret file {} cannot be made: {}; {}", path, error_text(),
                      kCure);
  }
  ScopeExit remove([&] { unlink(temporary.c_str()); });
  std::string bytes(kSecretBytes, '\0');
  SYMM_TRY(random_bytes(bytes.data(), bytes.size()));
  SYMM_TRY(write_all(fd.get(), bytes, path));
  OPENSSL_cleanse(bytes.data(), bytes.size());
  if (fsync(fd.get()) != 0) return SYMM_ERROR(kInternal, "secret file {}: {}", path, error_text());
  if (link(temporary.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    return SYMM_ERROR(kInternal, "secret file {} cannot be made: {}; {}", path, error_text(),
                      kCure);
  }
  return {};
}

Status check_secret_file(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) {
    return SYMM_ERROR(kInvalidValue, "secret file {} is not a regular file", path);
  }
  if (info.st_uid != geteuid()) {
    return SYMM_ERROR(kInvalidValue, "secret file {} belongs to user {}, not to {}: not used", path,
                      info.st_uid, geteuid());
  }
  if ((info.st_mode & 077) != 0) {
    return SYMM_ERROR(
        kInvalidValue,
        "secret file {} has mode {:04o}: others may have read it; remove it to get a new "
        "one (needed mode 0600)",
        path, info.st_mode & 07777);
  }
  if (static_cast<size_t>(info.st_size) < kMinSecretBytes ||
      static_cast<size_t>(info.st_size) > kMaxSecretBytes) {
    return SYMM_ERROR(kInvalidValue, "secret file {} has {} bytes, {} to {} are needed", path,
                      info.st_size, kMinSecretBytes, kMaxSecretBytes);
  }
  return {};
}

Result<std::string> read_secret(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return SYMM_ERROR(kInternal, "secret file {}: {}", path, error_text());
  SYMM_TRY(check_secret_file(info, path));
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t at = 0;
  while (at < bytes.size()) {
    ssize_t count = read(fd, bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return SYMM_ERROR(kInternal, "secret file {} cannot be read", path);
    at += static_cast<size_t>(count);
  }
  return bytes;
}

}  // namespace

const char* key_kind_name(KeyKind kind) {
  switch (kind) {
    case KeyKind::kCertificate:
      return "certificate";
    case KeyKind::kJobSecret:
      return "job secret";
    case KeyKind::kUniqueId:
      return "unique-id secret";
    case KeyKind::kUserFile:
      return "user secret";
  }
  return "unknown";
}

Status random_bytes(void* out, size_t count) {
  if (RAND_bytes(static_cast<unsigned char*>(out), static_cast<int>(count)) == 1) return {};
  return SYMM_ERROR(kInternal, "the system's random generator failed");
}

Result<std::string> user_secret_path() {
  std::string path = config::text("SHMEM_SECRET_FILE");
  if (!path.empty()) {
    if (path.front() == '/') return path;
    return SYMM_ERROR(kInvalidValue, "SHMEM_SECRET_FILE={}: give an absolute path", path);
  }
  std::string home = config::raw("HOME").value_or("");
  if (home.empty() || home.front() != '/') {
    std::vector<char> buffer(16384);
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
        found == nullptr) {
      return SYMM_ERROR(kInvalidValue,
                        "user {} has no home folder for the secret file; set SHMEM_SECRET_FILE or "
                        "SHMEM_JOB_SECRET",
                        geteuid());
    }
    home = found->pw_dir;
  }
  return home + "/.config/anyshmem/secret";
}

Result<std::string> user_secret(const std::string& path) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (fd.valid()) return read_secret(fd.get(), path);
    if (errno == ELOOP) return SYMM_ERROR(kInvalidValue, "secret file {} is a symbolic link", path);
    if (errno != ENOENT) {
      return SYMM_ERROR(kInvalidValue, "secret file {} cannot be opened: {}", path, error_text());
    }
    SYMM_TRY(create_secret(path));
  }
  return SYMM_ERROR(kInternal, "secret file {} disappears again and again", path);
}

Result<Secret> find_secret(std::string_view unique_id_secret) {
  std::string job = config::text("SHMEM_JOB_SECRET");
  if (!job.empty()) {
    if (job.size() < kMinSecretBytes) {
      return SYMM_ERROR(kInvalidValue, "SHMEM_JOB_SECRET has {} characters, at least {} are needed",
                        job.size(), kMinSecretBytes);
    }
    return Secret{KeyKind::kJobSecret, std::move(job), "SHMEM_JOB_SECRET"};
  }
  if (!unique_id_secret.empty()) {
    return Secret{KeyKind::kUniqueId, std::string(unique_id_secret), "the unique id"};
  }
  SYMM_ASSIGN(std::string path, user_secret_path());
  SYMM_ASSIGN(std::string bytes, user_secret(path));
  return Secret{KeyKind::kUserFile, std::move(bytes), "secret file " + path};
}

Result<Key> derive_key(std::string_view secret, std::string_view salt, std::string_view info) {
  struct Free {
    void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
    void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
  };
  std::unique_ptr<EVP_KDF, Free> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  std::unique_ptr<EVP_KDF_CTX, Free> context(kdf ? EVP_KDF_CTX_new(kdf.get()) : nullptr);
  if (!context) return SYMM_ERROR(kInternal, "OpenSSL offers no HKDF");
  char digest[] = "SHA256";
  auto octets = [](const char* name, std::string_view data) {
    return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(data.data()), data.size());
  };
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      octets(OSSL_KDF_PARAM_KEY, secret),
      octets(OSSL_KDF_PARAM_SALT, salt),
      octets(OSSL_KDF_PARAM_INFO, info),
      OSSL_PARAM_construct_end(),
  };
  Key key{};
  if (EVP_KDF_derive(context.get(), key.data(), key.size(), params) != 1) {
    return SYMM_ERROR(kInternal, "HKDF failed");
  }
  return key;
}

}  // namespace symm::net
