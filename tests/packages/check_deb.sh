#!/usr/bin/env bash
# tests/packages/check_deb.sh DIST: the packages for Debian in the folder DIST. dpkg unpacks them into a folder, and
# programs in C and C++ are built against what is there. lintian has nothing to say but what is explained below.
set -euo pipefail
dist=$(cd "$1" && pwd)
. "$(dirname "$0")/user.sh"
multiarch=x86_64-linux-gnu
cd "$work"

# Tags that are left, and why:
#   bogus-mail-host, bogus-mail-host-in-debian-changelog   the authors have no address in common
#   initial-upload-closes-no-bugs                          it is no upload to Debian
cat >allowed <<'L'
bogus-mail-host
bogus-mail-host-in-debian-changelog
initial-upload-closes-no-bugs
L
# Without libdenise.a: lintian prints and reads every relocation in it, which takes many minutes.
mkdir lint
dpkg-deb -R "$dist/libdenise-dev_$version-1_amd64.deb" lint/dev
rm "lint/dev/usr/lib/$multiarch/libdenise.a"
sed -i '/libdenise\.a$/d' lint/dev/DEBIAN/md5sums
dpkg-deb --root-owner-group -Zgzip --build lint/dev "lint/libdenise-dev_$version-1_amd64.deb" >/dev/null
lintian --tag-display-limit 0 lint/*.deb "$dist/libdenise${abi}_$version-1_amd64.deb" \
  "$dist/denise_$version-1_amd64.deb" >tags 2>lintian.log || true
# It must have run: a fresh package has at least the first of these tags.
grep -q bogus-mail-host tags || { cat lintian.log tags >&2; exit 1; }
awk '$1 ~ /^[EW]:$/ { print $3 }' tags | sort -u >found
if grep -vxFf allowed found; then
  cat tags >&2
  exit 1
fi
echo "ok      lintian: nothing but $(paste -sd' ' found)"

# As dpkg would install them, without this machine's own packages.
fake=$work/machine
mkdir -p "$fake/var/lib/dpkg/updates" "$fake/var/lib/dpkg/info"
touch "$fake/var/lib/dpkg/status"
dpkg --root="$fake" --force-depends,not-root,script-chrootless --no-triggers --log="$work/log" -i \
  "$dist/libdenise${abi}_$version-1_amd64.deb" "$dist/libdenise-dev_$version-1_amd64.deb" \
  "$dist/denise_$version-1_amd64.deb" >"$work/dpkg" 2>&1 || { cat "$work/dpkg" >&2; exit 1; }
dpkg --root="$fake" -l | awk '$1 ~ /^i/ { print "        " $2, $3 }'
lib=$fake/usr/lib/$multiarch
[ -e "$lib/libdenise.so.$abi" ] && [ -L "$lib/libdenise.so" ]
dpkg --root="$fake" --verify

# The control files name what a package must depend on that uses the library, and the library has what they name.
nm -D --defined-only "$lib/libdenise.so.$abi" | awk '{ print " " $NF "@Base '"$version"'" }' | LC_ALL=C sort >names
info=$fake/var/lib/dpkg/info
grep '^ ' "$info/libdenise$abi:amd64.symbols" | LC_ALL=C sort | diff - names
grep -qx "libdenise $abi libdenise$abi (>= $version)" "$info/libdenise$abi:amd64.shlibs"
echo "ok      symbols and shlibs"

cp "$root/examples/c/minimal.c" main.c
cp "$root/examples/cpp/minimal.cpp" main.cpp
cp "$root/tests/consumer/CMakeLists.txt" .
export PKG_CONFIG_LIBDIR=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$fake
for way in 'gcc main.c' 'g++ -std=c++17 main.cpp'; do
  # shellcheck disable=SC2046,SC2086 # several words
  $way -o by-pkg-config $(pkg-config --cflags --libs denise)
  LD_LIBRARY_PATH=$lib expect "$way, pkg-config" ./by-pkg-config
  # shellcheck disable=SC2046,SC2086
  $way -o static -static $(pkg-config --static --cflags --libs denise)
  expect "$way, pkg-config, static" ./static
done
cmake -S . -B cmake -DCMAKE_PREFIX_PATH="$fake/usr" -DCMAKE_LIBRARY_ARCHITECTURE=$multiarch >/dev/null
cmake --build cmake >/dev/null
for one in shared archive static; do
  expect "CMake, $one, C" "./cmake/$one"
  expect "CMake, $one, C++" "./cmake/${one}_cpp"
done
"$fake/usr/bin/denise" --version | grep -qx "denise $version"
man --warnings -l "$fake/usr/share/man/man1/denise.1.gz" >/dev/null
echo "ok      the program and its manual page"
