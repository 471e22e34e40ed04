#!/bin/sh
# check_format.sh ROOT: clang-format must have nothing to change in our sources. Prints the files where it has.
set -eu
cd "$1"
files=$(find include src tools tests bench fuzz examples -type f \
  \( -name '*.cc' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.c' \) -not -path '*/data/*' | sort)
# shellcheck disable=SC2086  # a list of words by intent
if output=$(clang-format-14 --dry-run --Werror --style=file $files 2>&1); then
  exit 0
fi
echo "clang-format-14 -i would change:"
echo "$output" | sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: .*/\1/p' | sort | uniq -c
exit 1
