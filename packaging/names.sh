# Sourced by the scripts that make packages: what they are called, when, and how files are packed so that the same files
# give the same bytes.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
abi=$(sed -n 's/^const ABI: u32 = \([0-9]*\);/\1/p' "$root/build.rs")
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)
export SOURCE_DATE_EPOCH

pack() { # pack FOLDER NAME OUT.tar.gz: the folder NAME in FOLDER
  tar -C "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+w,go-w \
    -cf - "$2" | gzip -n >"$3"
}
