#!/bin/sh
# build_sh_test.sh SOURCE FOLDER: runs scripts/build.sh with combinations of its options. Configures everything but compiles
# one small target only.
set -eu
build=$1/scripts/build.sh
folder=$2
fail() {
  echo "build_sh_test.sh: $1" >&2
  exit 1
}

# accepts EXAMPLES TESTS TYPE OPTIONS...: what the options set, and that they build.
accepts() {
  examples=$1 tests=$2 type=$3
  shift 3
  rm -rf "$folder/lib"
  "$build" -folder "$folder" -target shmem_utils -jobs 1 "$@" >"$folder.log" 2>&1 || {
    cat "$folder.log" >&2
    fail "failed with: $*"
  }
  [ -f "$folder/lib/libshmem_utils.so" ] || fail "no library in build/lib with: $*"
  for setting in "ANYSHMEM_EXAMPLES:BOOL=$examples" "ANYSHMEM_TESTS:BOOL=$tests" "CMAKE_BUILD_TYPE:STRING=$type"; do
    grep -q "^$setting\$" "$folder/CMakeCache.txt" || fail "not $setting with: $*"
  done
  # Targets of examples and tests are there exactly when asked for.
  ninja -C "$folder" -t targets all >"$folder.targets"
  if grep -q "^bin/rdma_aclgraph:" "$folder.targets"; then has=ON; else has=OFF; fi
  [ "$has" = "$examples" ] || fail "examples are $has with: $*"
  if grep -q "^tests/kernel_sync_test:" "$folder.targets"; then has=ON; else has=OFF; fi
  [ "$has" = "$tests" ] || fail "tests are $has with: $*"
}

refuses() {
  code=0
  "$build" -folder "$folder" "$@" >"$folder.log" 2>&1 || code=$?
  [ $code -eq 2 ] || fail "exit code $code instead of 2 with: $*"
  grep -q "^build.sh: " "$folder.log" || fail "no message with: $*"
}

mkdir -p "$folder"
accepts OFF OFF RelWithDebInfo
accepts ON OFF RelWithDebInfo -examples
accepts ON OFF RelWithDebInfo -examples -enable_rdma -soc_type Ascend910B
accepts ON OFF RelWithDebInfo -enable_rdma -rdma_backend hns -soc_type Ascend950 -examples
accepts OFF ON Debug -uttests -debug
accepts ON ON Debug -examples -enable_rdma -soc_type Ascend910_93 -rdma_backend xscale -debug -uttests
refuses -unknown
refuses -soc_type
refuses -soc_type -debug
refuses -jobs many
"$build" -help | grep -q -- "-rdma_backend" || fail "-help does not show the options"
