// shmem-run: starts N PEs on this host or on several, tells each who it is, ends the job when one
// fails.
#include <cstdio>
#include <cstring>
#include <string>

#include "shmem-run/job.h"
#include "shmem-run/options.h"
#include "shmem-run/part.h"

namespace {

constexpr int kUsageError = 2;
constexpr int kCannotRun = 127;

}  // namespace

int main(int argc, char** argv) {
  // How this program starts itself on another host; see remote_group.cc.
  if (argc == 2 && std::strcmp(argv[1], "--part") == 0) return symm::launcher::Part().run();
  auto options = symm::launcher::parse_options(argc, argv);
  if (!options.ok()) {
    std::string text(options.status().text());
    std::fprintf(stderr, "shmem-run: %s; %s\n", text.c_str(), symm::launcher::kUsage);
    return kUsageError;
  }
  if (options.value().help_only) return 0;
  symm::launcher::Job job(std::move(options).value());
  if (symm::Status status = job.start(); !status.ok()) {
    std::string text(status.text());
    std::fprintf(stderr, "shmem-run: %s\n", text.c_str());
    return kCannotRun;
  }
  return job.run();
}
