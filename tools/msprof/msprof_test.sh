#!/bin/sh
# msprof_test.sh MSPROF: what runs, with which words, and which exit code comes back.
msprof=$1
failures=0
expect() {  # expect CODE OUTPUT ARGUMENT...
  code=$1 output=$2
  shift 2
  got=$("$msprof" "$@" 2>/dev/null)
  status=$?
  if [ $status -ne "$code" ] || [ "$got" != "$output" ]; then
    echo "msprof $*: exit code $status and '$got', wanted $code and '$output'"
    failures=$((failures + 1))
  fi
}
expect 0 "a * b" --application="echo a * b"
expect 0 "a b" --output=somewhere --ai-core=on --application="echo a b" --type=text
expect 0 "a  b" --output=somewhere echo "a  b"
expect 0 "--x=1" --output=somewhere echo --x=1
expect 1 "" --application=false
expect 3 "" sh -c "exit 3"
expect 127 "" --application=/nowhere/program
expect 2 "" --output=somewhere
expect 2 "" --application=true echo
[ $failures -eq 0 ]
