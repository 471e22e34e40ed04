// shmem-cc: compiles kernels and programs that launch them with an ordinary C++ compiler.
#include <cstdio>

#include "shmem-cc/driver.h"

namespace {

constexpr const char* kHelp =
    "usage: shmem-cc [options] files...\n"
    "Compiles C++ with kernels (__global__, <<<>>>, __ubuf__) for the CPU device. All options of "
    "the compiler are\n"
    "passed on; -o, -c, -S, -E, -fsyntax-only and dependency files work as usual. Linking adds the "
    "SHMEM libraries.\n"
    "\n"
    "  --compiler=X        compiler to use (else the variable SHMEM_CXX, else the one this tool "
    "was built with)\n"
    "  --npu-arch=A        dav-2201 (default) or dav-3510\n"
    "  --checked           check flags, alignments and element accesses of kernels at run time\n"
    "  --no-libraries      link without the SHMEM libraries\n"
    "  --keep=FILE         keep the rewritten text in FILE\n"
    "  --show-commands     print the commands that are run\n"
    "  --launcher CC ...   behave as the compiler command that follows, without paths and "
    "libraries of our own\n"
    "  --shmem-help, --shmem-version\n"
    "Accepted and ignored: -xasc, -xcce, --cce-*, -mllvm X.\n";

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  symm::Result<symm::cc::CommandLine> line = symm::cc::parse_command_line(words);
  if (!line.ok()) {
    const std::string text(line.status().text());
    std::fprintf(stderr, "shmem-cc: error: %s\n", text.c_str());
    return 1;
  }
  if (line.value().help || words.empty()) {
    std::fputs(kHelp, stdout);
    return words.empty() ? 1 : 0;
  }
  if (line.value().version) {
    std::printf("shmem-cc %s\n", SYMM_VERSION);
    return 0;
  }
  return symm::cc::run(line.value(), symm::cc::find_installation());
}
