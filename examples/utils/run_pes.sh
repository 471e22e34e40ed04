# Starts the PEs of one example on this host, one process each, and waits for them. Sourced by the run.sh files.
# usage: run.sh [-pes N] [-ipport tcp://HOST:PORT] [-gnpus N] [-fpe N] [-fnpu N]
# With several hosts: the same -pes and -ipport on each, -gnpus PEs of this host, -fpe the first of them.
# BIN names the folder of the programs; the release build of this tree when unset.

run_pes() {
  program=$1
  shift
  pes=2 ipport=tcp://127.0.0.1:8899 gnpus="" fpe=0 fnpu=0
  while [ $# -gt 0 ]; do
    if [ $# -lt 2 ]; then
      echo "run.sh: $1 needs a value" >&2
      return 2
    fi
    case $1 in
      -pes) pes=$2 ;;
      -ipport) ipport=$2 ;;
      -gnpus) gnpus=$2 ;;
      -fpe) fpe=$2 ;;
      -fnpu) fnpu=$2 ;;
      *)
        echo "usage: run.sh [-pes N] [-ipport tcp://HOST:PORT] [-gnpus N] [-fpe N] [-fnpu N]" >&2
        return 2
        ;;
    esac
    shift 2
  done
  : "${gnpus:=$pes}"
  binary=${BIN:-$(dirname "$0")/../../build/release/bin}/$program
  if [ ! -x "$binary" ]; then
    echo "run.sh: $binary is not there; build it with scripts/build release $program, or set BIN" >&2
    return 1
  fi

  processes=""
  pe=$fpe
  while [ "$pe" -lt $((fpe + gnpus)) ]; do
    "$binary" "$pes" "$pe" "$ipport" "$gnpus" "$fpe" "$fnpu" &
    processes="$processes $!"
    pe=$((pe + 1))
  done
  result=0
  for process in $processes; do
    wait "$process" || result=1
  done
  return $result
}
