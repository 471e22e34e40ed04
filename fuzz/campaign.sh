#!/bin/bash
# A libFuzzer campaign over all targets: SECONDS of fuzzing in total, shared out evenly, one target after the other
# (JOBS at once), at the lowest priority. Findings, grown corpora and logs go to LOGS; LOGS/summary.txt has a line per
# target. Exit code 1 when a target found something.
# usage: fuzz/campaign.sh SECONDS LOGS [TARGET...]      BUILD (default build/clang, clang preset) and JOBS (1) by environment
set -u
if [ $# -lt 2 ] || ! [[ $1 =~ ^[0-9]+$ ]]; then
  sed -n '2,5s/^# //p' "$0" >&2
  exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
seconds=$1
mkdir -p "$2" && logs=$(cd "$2" && pwd) || exit 2
build=${BUILD:-$root/build/clang}
jobs=${JOBS:-1}
shift 2
if [ $# -gt 0 ]; then
  targets=("$@")
else
  mapfile -t targets < <(cd "$build/fuzz" && ls ./*_fuzz | sed 's|^\./||; s/_fuzz$//')
fi
each=$((seconds / ${#targets[@]}))
[ "$each" -gt 0 ] || each=1

fuzz_one() {
  local name=$1
  mkdir -p "$logs/$name/corpus"
  # A copy: a rebuild must not change the program under a running campaign.
  cp "$build/fuzz/${name}_fuzz" "$logs/$name/program"
  (cd "$logs/$name" && exec nice -n 19 ./program corpus "$root/fuzz/corpus/$name" -max_total_time="$each" -max_len=8192 \
    -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -close_fd_mask=1 >log 2>&1)
  echo $? >"$logs/$name/exit"
  local runs cover
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$logs/$name/log")
  cover=$(grep -o 'cov: [0-9]* ft: [0-9]*' "$logs/$name/log" | tail -1)
  printf '%-14s %6d s  exit %s  %12s runs  %s  findings %d\n' "$name" "$each" "$(cat "$logs/$name/exit")" "${runs:-?}" \
    "${cover:-no coverage}" "$(find "$logs/$name" -maxdepth 1 \( -name 'crash-*' -o -name 'leak-*' -o -name 'timeout-*' \
    -o -name 'oom-*' \) | wc -l)" >>"$logs/summary.txt"
}

export -f fuzz_one
export logs build each root
: >>"$logs/summary.txt"
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'fuzz_one {}'
cat "$logs/summary.txt"
! grep -qv 'exit 0 ' "$logs/summary.txt"
