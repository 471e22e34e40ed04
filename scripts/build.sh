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
#   -folder PATH         another folder than build
#   -target NAME         this target only; may be given several times
set -eu

usage() { sed -n '2,12s/^# \{0,1\}//p' "$script"; }
fail() {
  echo "build.sh: $1" >&2
  usage >&2
  exit 2
}
folder="" targets=""
script=$(cd "$(dirname "$0")" && pwd)/build.sh
examples=OFF tests=OFF type=RelWithDebInfo jobs=${JOBS:-2}
while [ $# -gt 0 ]; do
  case $1 in
    -examples) examples=ON ;;
    -uttests) tests=ON ;;
    -debug) type=Debug ;;
    -enable_rdma) ;;
    -soc_type | -rdma_backend | -jobs | -folder | -target)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $2 in
        "" | -*) fail "$1 needs a value, not '$2'" ;;
      esac
      case $1 in
        -jobs) jobs=$2 ;;
        -folder) folder=$2 ;;
        -target) targets="$targets $2" ;;
      esac
      shift
      ;;
    -h | -help | --help)
      usage
      exit 0
      ;;
    *) fail "option $1 is unknown" ;;
  esac
  shift
done
case $jobs in
  "" | *[!0-9]* | 0) fail "-jobs takes a number from 1" ;;
esac

source=$(dirname "$script")/..
: "${folder:=$source/build}"
mkdir -p "$folder"
cmake -S "$source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=$type -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O2 -g1" \
  -DANYSHMEM_EXAMPLES=$examples -DANYSHMEM_TESTS=$tests -DANYSHMEM_BENCH=OFF >"$folder/configure.log" 2>&1 ||
  { cat "$folder/configure.log" >&2; exit 1; }
# Names of targets hold no spaces, so they may be split.
# shellcheck disable=SC2086
cmake --build "$folder" -j "$jobs" ${targets:+--target $targets}
echo "build.sh: programs are in $folder/bin, libraries in $folder/lib"
