#!/bin/sh
# scripts/build.sh [options]: builds into build/bin and build/lib, with the options that users of SHMEM on NPUs know.
#   -examples            the examples too
#   -uttests             the tests too; run them with ctest --test-dir build
#   -debug               with assertions and without optimisation
#   -soc_type TYPE       Ascend910B, Ascend910_93, Ascend950, ...: accepted. The chip is an option of each kernel here
#                        (--npu-arch), and one library serves all
#   -enable_rdma         accepted: the RDMA calls are always there
#   -rdma_backend NAME   accepted: one engine stands for all backends
#   -jobs N              compile jobs, 2 by default
set -eu
cd "$(dirname "$0")/.."

fail() {
  echo "build.sh: $1" >&2
  sed -n '2,9s/^# \{0,1\}//p' scripts/build.sh >&2
  exit 2
}
examples=OFF tests=OFF type=RelWithDebInfo jobs=${JOBS:-2}
while [ $# -gt 0 ]; do
  case $1 in
    -examples) examples=ON ;;
    -uttests) tests=ON ;;
    -debug) type=Debug ;;
    -enable_rdma) ;;
    -soc_type | -rdma_backend | -jobs)
      [ $# -ge 2 ] || fail "$1 needs a value"
      [ "$1" != -jobs ] || jobs=$2
      shift
      ;;
    -h | -help | --help) sed -n '2,9s/^# \{0,1\}//p' scripts/build.sh; exit 0 ;;
    *) fail "option $1 is unknown" ;;
  esac
  shift
done

mkdir -p build
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=$type -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1" \
  -DANYSHMEM_EXAMPLES=$examples -DANYSHMEM_TESTS=$tests -DANYSHMEM_BENCH=OFF >build/configure.log 2>&1 ||
  { cat build/configure.log >&2; exit 1; }
cmake --build build -j "$jobs"
echo "build.sh: programs are in build/bin, libraries in build/lib"
