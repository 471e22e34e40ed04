#!/bin/sh
# check_format.sh ROOT: clang-format must have nothing to change in our sources.
set -eu
cd "$1"
find include src tools tests bench fuzz examples -type f \
  \( -name '*.cc' -o -name '*.cpp' -o -name '*.h' -o -name '*.hpp' -o -name '*.c' \) -not -path '*/data/*' |
  sort | xargs clang-format-14 --dry-run --Werror --style=file
