#!/usr/bin/env bash
# tests/windows/check_dll.sh STAGE
#
# The DLL in STAGE, and the program if there is one, need no DLL that does not come with Windows, and the DLL exports
# the names of tests/symbols.txt and no other.
set -euo pipefail
stage=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
dump=x86_64-w64-mingw32-objdump

# On every Windows since 10; api-ms-... are names that the system itself resolves.
own='KERNEL32.dll|ntdll.dll|msvcrt.dll|bcryptprimitives.dll|WS2_32.dll|USERENV.dll|ADVAPI32.dll|SHELL32.dll|ole32.dll'
own="$own|combase.dll|api-ms-win-core-synch-l1-2-0.dll"
imports() { # imports FILE: the DLLs that it needs
  "$dump" -p "$1" | sed -n 's/^\tDLL Name: //p' | sort -fu
}
for file in "$stage"/bin/*; do
  needs=$(imports "$file")
  others=$(printf '%s\n' "$needs" | grep -vixE "$own" || true)
  if [ -z "$needs" ] || [ -n "$others" ]; then
    echo "$(basename "$file") needs: $others" >&2
    exit 1
  fi
  echo "ok      $(basename "$file"), $(stat -c %s "$file") bytes, needs $(printf '%s' "$needs" | tr '\n' ' ')"
done
# The list is not looked at in vain: the C++ runtime of gcc is not Windows' own.
if echo 'libstdc++-6.dll' | grep -qixE "$own"; then
  exit 1
fi

exports=$("$dump" -p "$stage/bin/denise.dll" |
  awk '/\[Ordinal\/Name Pointer\]/ { on = 1; next } NF == 0 { on = 0 } on { print $NF }')
diff <(printf '%s\n' "$exports" | LC_ALL=C sort) <(LC_ALL=C sort tests/symbols.txt)
echo "ok      denise.dll exports the $(wc -l <tests/symbols.txt) names of tests/symbols.txt"
