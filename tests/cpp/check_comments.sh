#!/usr/bin/env bash
# tests/cpp/check_comments.sh COMPILER...: the programs in the first comments of the C++ headers compile and run.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$root/build"
for header in denise denise_eigen; do
  sed -n '/^\/\/   #include/,/^\/\/   }$/s/^\/\/ \{0,3\}//p' "$root/include/$header.hpp" >"$root/build/comment.cpp"
  grep -q 'int main' "$root/build/comment.cpp"
  "$1" "$root/build/comment.cpp" -o "$root/build/comment" "${@:2}"
  "$root/build/comment"
  echo "$header.hpp: its example runs"
done
