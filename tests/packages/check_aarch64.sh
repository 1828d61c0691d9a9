#!/usr/bin/env bash
# tests/packages/check_aarch64.sh DIST: the binary tarball for 64-bit ARM in the folder DIST, in an emulator: programs
# in C and C++, the tests of the C ABI, and the program denise, whose files are those of x86_64, number by number.
set -euo pipefail
dist=$(cd "$1" && pwd)
. "$(dirname "$0")/user.sh"
"$root/scripts/need" qemu-aarch64:qemu-user aarch64-linux-gnu-g++:g++-aarch64-linux-gnu
for machine in aarch64 x86_64; do
  tar xzf "$dist/libdenise-$version-linux-$machine.tar.gz" -C "$work"
  mv "$work/libdenise-$version-linux-$machine" "$work/$machine"
done
prefix=$work/aarch64
emulate=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
for file in lib/libdenise.so.$abi bin/denise; do
  highest=$(aarch64-linux-gnu-objdump -T "$prefix/$file" | grep -oE 'GLIBC_2\.[0-9.]+' | sort -uV | tail -n 1)
  [ "$highest" = GLIBC_2.17 ] || { echo "$file needs $highest" >&2; exit 1; }
  echo "ok      $file needs $highest"
done

cd "$root"
aarch64-linux-gnu-gcc examples/c/minimal.c -o "$work/c" -I"$prefix/include" -L"$prefix/lib" -ldenise \
  -Wl,-rpath,"$prefix/lib"
expect "C" "${emulate[@]}" "$work/c"
aarch64-linux-gnu-g++ -std=c++17 examples/cpp/minimal.cpp -o "$work/cpp" -I"$prefix/include" "$prefix/lib/libdenise.a" \
  -lm -lpthread -ldl
expect "C++, libdenise.a" "${emulate[@]}" "$work/cpp"
flags=(-std=c11 -O2 -I"$prefix/include" -Itests/c '-DMODEL="models/default.onnx"'
  '-DDENSE="tests/data/onnx/keras_paper.onnx"' '-DOTHER="tests/data/onnx/double.onnx"'
  '-DTORCH="tests/data/onnx/torch_matrix_legacy.onnx"')
for test in abi stream covariance; do
  aarch64-linux-gnu-gcc "${flags[@]}" "tests/c/$test.c" -o "$work/$test" -L"$prefix/lib" -ldenise -lm -pthread \
    -Wl,-rpath,"$prefix/lib"
  "${emulate[@]}" "$work/$test" --quick
done

prices=tests/data/sp500/sp500_dataset.csv.gz
"${emulate[@]}" "$prefix/bin/denise" decompose $prices --table prices --out "$work/arm" >/dev/null
"$work/x86_64/bin/denise" decompose $prices --table prices --out "$work/x86" >/dev/null
for file in L.npy S.npy U.npy; do
  cmp "$work/arm/$file" "$work/x86/$file"
done
echo "ok      denise decompose: the same bits as on x86_64"

# The packages for Debian, whose binaries are the same but for names that nobody needs at run time.
fake=$work/machine
mkdir -p "$fake/var/lib/dpkg/updates" "$fake/var/lib/dpkg/info"
touch "$fake/var/lib/dpkg/status"
dpkg --root="$fake" --force-architecture,depends,not-root,script-chrootless --no-triggers --log="$work/log" -i \
  "$dist/libdenise${abi}_$version-1_arm64.deb" "$dist/libdenise-dev_$version-1_arm64.deb" \
  "$dist/denise_$version-1_arm64.deb" >"$work/dpkg" 2>&1 || { cat "$work/dpkg" >&2; exit 1; }
dpkg --root="$fake" --verify
lib=$fake/usr/lib/aarch64-linux-gnu
cmp "$lib/libdenise.a" "$prefix/lib/libdenise.a"
aarch64-linux-gnu-gcc examples/c/minimal.c -o "$work/deb" -I"$fake/usr/include" -L"$lib" -ldenise -Wl,-rpath,"$lib"
expect "C, libdenise${abi}_$version-1_arm64.deb" "${emulate[@]}" "$work/deb"
"${emulate[@]}" "$fake/usr/bin/denise" decompose $prices --table prices --out "$work/deb-arm" >/dev/null
cmp "$work/deb-arm/L.npy" "$work/x86/L.npy"
echo "ok      its program: the same bits"
