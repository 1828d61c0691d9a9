#!/usr/bin/env bash
# tests/packages/check_tarball.sh DIST RELEASE: the binary tarball for x86_64 in the folder DIST, as a user would take
# it: unpacked somewhere, moved, and used from C and C++ in every way that it offers. Its results are those of the
# library and the program in RELEASE, where cargo has put those of the ordinary build.
set -euo pipefail
dist=$(cd "$1" && pwd) ordinary=$(cd "$2" && pwd)
. "$(dirname "$0")/user.sh"
name=libdenise-$version-linux-x86_64

(cd "$dist" && sha256sum --quiet --ignore-missing -c SHA256SUMS)
mkdir "$work/first"
tar xzf "$dist/$name.tar.gz" -C "$work/first"
mv "$work/first/$name" "$work/a folder"
prefix="$work/a folder"
echo "ok      $name.tar.gz, $(stat -c %s "$dist/$name.tar.gz") bytes, unpacked and moved"
(cd "$prefix" && find . -type f -o -type l | grep -v '^./share/denise/matlab/' | LC_ALL=C sort)

# What it needs of the system.
for file in lib/libdenise.so.$abi bin/denise; do
  highest=$(objdump -T "$prefix/$file" | grep -oE 'GLIBC_2\.[0-9.]+' | sort -uV | tail -n 1)
  [ "$highest" = "$(printf 'GLIBC_2.17\n%s\n' "$highest" | sort -V | head -n 1)" ] ||
    { echo "$file needs $highest" >&2; exit 1; }
  echo "ok      $file needs $highest and $(readelf -dW "$prefix/$file" | grep -c NEEDED) libraries of the system"
  readelf -dW "$prefix/$file" | sed -n 's/.*NEEDED.*\[\(.*\)\]/          \1/p'
done
"$root/tests/check_library.sh" "$prefix/lib/libdenise.so.$abi" "$abi" 25000000
"$root/tests/check_archive.sh" "$prefix/lib/libdenise.a"

cd "$work"
cp "$root/examples/c/minimal.c" main.c
cp "$root/examples/cpp/minimal.cpp" main.cpp
cp "$root/tests/consumer/CMakeLists.txt" .
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
for way in 'gcc main.c' 'g++ -std=c++17 main.cpp'; do
  # shellcheck disable=SC2086 # several words; pkg-config quotes the blank in the folder's name for a shell
  eval $way -o by-pkg-config "$(pkg-config --cflags --libs denise)"
  LD_LIBRARY_PATH=$prefix/lib expect "$way, pkg-config" ./by-pkg-config
  $way -o by-hand -I"$prefix/include" -L"$prefix/lib" -ldenise -Wl,-rpath,"$prefix/lib"
  expect "$way, by hand" ./by-hand
  $way -o archive -I"$prefix/include" "$prefix/lib/libdenise.a" -lm -lpthread -ldl
  expect "$way, libdenise.a" ./archive
done
cmake -S . -B cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build cmake >/dev/null
for one in shared archive static; do
  expect "CMake, $one, C" "./cmake/$one"
  expect "CMake, $one, C++" "./cmake/${one}_cpp"
done

# The program.
"$prefix/bin/denise" --version | grep -qx "denise $version"
echo "ok      $("$prefix/bin/denise" --version)"

# Licences: of every crate in the bill of materials.
python3 - "$prefix/share/doc/denise" <<'P'
import json, pathlib, sys
doc = pathlib.Path(sys.argv[1])
text = (doc / "THIRD-PARTY.txt").read_text()
crates = json.loads((doc / "libdenise.cdx.json").read_text())["components"]
names = [f"{c['name']} {c['version']}: " for c in crates if "hashes" in c]
missing = [name for name in names if "\n" + name not in text]
assert names and not missing, missing
print(f"ok      licences of {len(names)} crates of the library, and of those of the program")
P

# The tests of the C ABI, on this library.
cd "$root"
mkdir "$work/c"
flags=(-std=c11 -O2 -I"$prefix/include" -Itests/c -Itests/trust '-DMODEL="models/default.onnx"'
  '-DDENSE="tests/data/onnx/keras_paper.onnx"' '-DOTHER="tests/data/onnx/double.onnx"'
  '-DTORCH="tests/data/onnx/torch_matrix_legacy.onnx"')
for test in abi stream covariance last_error; do
  gcc "${flags[@]}" "tests/c/$test.c" -o "$work/c/$test" -L"$prefix/lib" -ldenise -lm -pthread -Wl,-rpath,"$prefix/lib"
  quick=--quick
  [ $test != last_error ] || quick=
  # shellcheck disable=SC2086 # no word at all for one
  "$work/c/$test" $quick
done

# The same bits as the ordinary build: results of every kind of network, and files that the program writes.
gcc "${flags[@]}" tests/trust/numbers.c -o "$work/c/numbers" -L"$prefix/lib" -ldenise -lm -pthread
ln -s "$ordinary/libdenise.so" "$work/c/libdenise.so.$abi"
LD_LIBRARY_PATH=$work/c "$work/c/numbers" >"$work/ordinary"
LD_LIBRARY_PATH=$prefix/lib "$work/c/numbers" >"$work/packaged"
cmp "$work/ordinary" "$work/packaged"
prices=tests/data/sp500/sp500_dataset.csv.gz
for program in "$ordinary/denise" "$prefix/bin/denise"; do
  to=$work/$(basename "$(dirname "$program")") # release and bin
  "$program" covariance $prices --out "$to" >/dev/null
  "$program" decompose $prices --table prices --out "$to/split" >/dev/null
done
# But for the time that it took.
diff -r -I "\"microseconds_per_matrix\":" "$work/$(basename "$ordinary")" "$work/bin"
echo "ok      the same bits as the ordinary build: $(tail -n 1 "$work/packaged")"
