#include "os/identity.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "os/sha256.h"

namespace symm::os {
namespace {

uint64_t boot_hash() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  // Without /proc the host name has to do: sharing is tried and tested anyway.
  if (boot.empty()) {
    char name[256] = {};
    if (::gethostname(name, sizeof(name) - 1) == 0) boot = name;
  }
  Digest digest = sha256(boot);
  uint64_t hash;
  std::memcpy(&hash, digest.data(), sizeof(hash));
  return hash;
}

}  // namespace

Identity identity() {
  // A forked child has another pid and therefore counts as another process although it shares the
  // token.
  static const uint64_t token = [] {
    uint64_t value;
    random_bytes(&value, sizeof(value));
    return value;
  }();
  Identity who;
  who.host = boot_hash();
  struct stat info {};
  if (::stat("/proc/self/ns/net", &info) == 0) who.network = info.st_ino;
  who.process = token;
  who.pid = static_cast<uint32_t>(::getpid());
  return who;
}

}  // namespace symm::os
