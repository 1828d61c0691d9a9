# Sourced by the checks of the packages: a user's machine, which has compilers and no Rust.
#   root, version, abi, work: as their names say; work is removed at the end
#   expect NAME COMMAND...: the command must print what every one of the README's small programs prints
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
abi=$(sed -n 's/^const ABI: u32 = \([0-9]*\);/\1/p' "$root/build.rs")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=/usr/bin:/bin:/usr/sbin:/sbin
for command in cargo rustc; do
  if command -v $command >/dev/null; then
    echo "$command is in $PATH: a user of packages has none, so what this would show is not known" >&2
    exit 1
  fi
done
unset CARGO CARGO_TARGET_DIR CARGO_HOME LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH

expect() { # expect NAME COMMAND...
  local line
  line=$("${@:2}") || { echo "$1: failed" >&2; exit 1; }
  if [ "$line" != 'ok: M = 1.50 is L = 1.00 plus S = 0.50' ]; then
    echo "$1 prints: $line" >&2
    exit 1
  fi
  echo "ok      $1"
}
