#!/usr/bin/env bash
# tests/packages/check_vcpkg.sh DIST MACHINE...: the vcpkg port in the folder DIST, for each MACHINE. Without vcpkg
# itself: CMake runs the portfile with stand-ins for the two functions of vcpkg that it calls (vcpkg.cmake), and
# programs are built against the result.
set -euo pipefail
dist=$(cd "$1" && pwd)
shift
. "$(dirname "$0")/user.sh"

# The rules for names, versions, licences and fields.
python3 - "$dist/vcpkg/denise/vcpkg.json" "$version" <<'P'
import json, pathlib, re, sys
path = pathlib.Path(sys.argv[1])
port = json.loads(path.read_text())
assert port["name"] == path.parent.name and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", port["name"]), port["name"]
assert port["version"] == sys.argv[2] and re.fullmatch(r"\d+(\.\d+)*", port["version"]), port["version"]
assert set(port) <= {"name", "version", "description", "license", "supports"}, set(port)
assert not port["description"].endswith("."), port["description"]
assert {p.name for p in path.parent.iterdir()} == {"vcpkg.json", "portfile.cmake", "usage"}
print("ok      vcpkg.json")
P

run() { # run ARCHITECTURE DIST TO
  cmake -DDIST="$2" -DTO="$3" -DVCPKG_TARGET_ARCHITECTURE="$1" -P "$root/tests/packages/vcpkg.cmake" >"$work/log" 2>&1
}
for machine in "$@"; do
  case $machine in x86_64) architecture=x64 ;; aarch64) architecture=arm64 ;; esac
  run $architecture "$dist" "$work/$architecture" || { cat "$work/log" >&2; exit 1; }
  # What vcpkg asks of what is installed.
  to=$work/$architecture
  for file in include/denise.h lib/libdenise.a lib/libdenise.so.$abi share/denise/copyright share/denise/usage \
    share/denise/denise-config.cmake tools/denise/denise; do
    [ -s "$to/$file" ] || { echo "the port installs no $file" >&2; exit 1; }
  done
  [ ! -e "$to/lib/cmake" ] && [ ! -e "$to/bin" ] && [ ! -e "$to/share/doc" ]
  echo "ok      the portfile, for $architecture"
done
mkdir "$work/other"
cp -r "$dist/vcpkg" "$work/other/"
for tarball in "$dist"/libdenise-"$version"-linux-*.tar.gz; do
  echo damaged >"$work/other/$(basename "$tarball")"
done
if run x64 "$work/other" "$work/refused"; then
  echo "the port takes a tarball with another checksum" >&2
  exit 1
fi
# CMake breaks lines.
tr -s '[:space:]' ' ' <"$work/log" | grep -q 'is not the tarball' || { cat "$work/log" >&2; exit 1; }
echo "ok      another tarball is refused"

cd "$work"
cp "$root/examples/c/minimal.c" main.c
cp "$root/examples/cpp/minimal.cpp" main.cpp
cp "$root/tests/consumer/CMakeLists.txt" .
cmake -S . -B cmake -DCMAKE_PREFIX_PATH="$work/x64" >/dev/null
cmake --build cmake >/dev/null
for one in shared archive static; do
  expect "CMake, $one, C" "./cmake/$one"
  expect "CMake, $one, C++" "./cmake/${one}_cpp"
done
