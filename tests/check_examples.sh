#!/usr/bin/env bash
# Runs the built examples on little data and checks what they print. tests/octave/fake_lrs stands in for the LRS
# library, so that this path is tested where nobody has it.
#   tests/check_examples.sh BUILD_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LRS_PATH
fake=$PWD/tests/octave/fake_lrs
passed=0

fail() {
  echo "examples: $1" >&2
  [ -z "${2:-}" ] || cat "$2" >&2
  exit 1
}

has() { # has FILE PATTERN...: every pattern is in the file
  local file=$1
  shift
  for pattern in "$@"; do
    grep -qE -- "$pattern" "$file" || fail "no '$pattern' in:" "$file"
    passed=$((passed + 1))
  done
}

figures() { # figures FILE NAME: the figures of accuracy in that row
  grep -E "^  $2" "$1" | grep -oE '[0-9]+\.[0-9]+' | head -n 4 | tr '\n' ' '
}

same_row() { # same_row FILE NAME NAME: two methods that must have the same figures
  [ -n "$(figures "$1" "$2")" ] && [ "$(figures "$1" "$2")" = "$(figures "$1" "$3")" ] ||
    fail "rows '$2' and '$3' should agree in:" "$1"
  passed=$((passed + 1))
}

octave() { # octave COMMAND: in examples/matlab, with the binding on the path
  (cd examples/matlab && octave-cli --no-history --norc --quiet \
    --eval "addpath ('$PWD/../../bindings/matlab', '$build/matlab'); $1")
}

check_table() { # check_table FILE: what the table says if the library is the fake one
  same_row "$1" 'PCP, LRS library' 'L = M'
  same_row "$1" 'RPCA-GD, LRS library' 'eigen-truncation'
  has "$1" 'IALM, LRS library +the fake IALM fails' 'FPCP, LRS library +missing: .*fastpcp'
  # Beside each of the library's methods stands the same one of libdenise; what ran in place of its functions is named.
  has "$1" '^  PCP, libdenise +(0\.|not in this build)' '^  RPCA-GD, libdenise +(0\.|not in this build)' "to libdenise's\$" \
    '^Substitute in RPCA-GD, LRS library: maxk' '^Substitute in RPCA-GD, LRS library: lansvd' 'compares programs, not methods'
  ! grep -q 'must not reach' "$1" || fail "the library's own output is in the table" "$1"
}

"$build/demo/demo" "$build/demo/sp500.csv" "$work" >"$work/demo"
has "$work/demo" '^  Denise( +0\.[0-9]+){5} +[0-9.]+ us$' "^  PCP, paper's lambda( +0\.[0-9]+){5} +[0-9]+ us\$" '^  PCP, lambda 1/sqrt\(n\)( +0\.[0-9]+){5} +[0-9]+ us$' \
  '^  PCP, best lambda\*( +0\.[0-9]+){5}$' '^  \(the truth\)' 'synthetic\.png$' 'sp500\.png$'
# Its pictures are what a decoder takes: checksums, length, and more than one colour.
python3 - "$work/synthetic.png" "$work/sp500.png" <<'EOF'
import struct, sys, zlib
for path in sys.argv[1:]:
    data, at, chunks = open(path, "rb").read(), 8, {}
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        body, (crc,) = data[at + 4:at + 8 + size], struct.unpack(">I", data[at + 8 + size:at + 12 + size])
        assert zlib.crc32(body) == crc, path
        chunks[body[:4]] = body[4:]
        at += 12 + size
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    pixels = zlib.decompress(chunks[b"IDAT"])
    assert at == len(data) and list(chunks)[-1] == b"IEND" and len(pixels) == height * (width + 1), path
    assert len(set(pixels)) > 50, path
EOF
passed=$((passed + 2))
if "$build/demo/demo" "$build/demo/sp500.csv" "$work/missing" >/dev/null 2>"$work/demo_wrong"; then fail "the demo found a folder that is not there"; fi
has "$work/demo_wrong" 'cannot write'
if "$build/demo/demo" "$work/missing.csv" "$work" >/dev/null 2>"$work/demo_wrong"; then fail "the demo read a missing file"; fi
has "$work/demo_wrong" 'not a table'

"$build/examples/compare_lrs" --count 2 --prices "$build/examples/sp500.csv" >"$work/cpp"
has "$work/cpp" '^  Denise, by denise.hpp +0\.' '^  PCP, libdenise +(0\.|not in this build)' 'git clone --recursive'
"$build/examples/compare_lrs" "$fake" --count 3 --prices "$build/examples/sp500.csv" >"$work/cpp_fake"
check_table "$work/cpp_fake"
LRS_PATH=$work "$build/examples/compare_lrs" 2>"$work/cpp_wrong" >/dev/null && fail "a wrong LRS_PATH was accepted"
has "$work/cpp_wrong" 'is not the LRS library'

octave "compare_lrs ('', 2, '$work/a.png')" >"$work/m"
has "$work/m" '^  Denise, by denise.m +0\.' '^  PCP, libdenise +(0\.|not in this build)' 'git clone --recursive' '^drawn'
octave "compare_lrs ('$fake', 3, '$work/b.png')" >"$work/m_fake"
check_table "$work/m_fake"
# Without a program that plots, the picture is still there.
octave "gnuplot_binary ('$work/no_gnuplot'); compare_lrs ('', 2, '$work/c.png')" >"$work/m_plain" 2>/dev/null
has "$work/m_plain" 'drawn without titles'
for picture in a b c; do
  [ "$(head -c 4 "$work/$picture.png" | tail -c 3)" = PNG ] || fail "$picture.png is no PNG"
  passed=$((passed + 1))
done
# The binding's README shows the example that is run here.
diff -u examples/matlab/minimal.m <(awk '/^## Use/ { use = 1 } use && /^```$/ { exit } inside; use && /^```matlab$/ { inside = 1 }' \
  bindings/matlab/README.md)
octave min_variance >"$work/min_variance"
has "$work/min_variance" '^  equal weights +[0-9.]+ % a year$' '^  least variance, sample +[0-9.]+ % a year$' \
  '^  least variance, Denise +[0-9.]+ % a year$'
"$build/examples/min_variance" "$build/examples/sp500.csv" >"$work/min_variance_cpp"
has "$work/min_variance_cpp" '^  equal weights +[0-9.]+$' '^  least variance, Denise +[0-9.]+$'
octave minimal >"$work/minimal"
has "$work/minimal" '^ok: M = 1.50 is L = 1.00 plus S = 0.50$'

for prices in '' "$build/examples/sp500.csv"; do
  # shellcheck disable=SC2086 # no argument if there is no file
  "$build/examples/rolling_risk" $prices --ticks 3000 >"$work/risk"
  has "$work/risk" '^3000 ticks .* 0 refused' '^  decompose( +[0-9]+\.[0-9]+){4}$' '^  whole tick' '^  under +[0-9]+ us'
done
# Two banks.
has "$work/risk" 'JPM +BAC'

for prices in '' "$build/examples/sp500.csv" '--stagger'; do
  # shellcheck disable=SC2086 # no argument if there is no file
  "$build/examples/engine" $prices --ticks 60 --books 40 >"$work/engine"
  has "$work/engine" '40 books of 20 assets' \
    '^  tick +60, book +[0-9]+: exposures( [-+]0\.[0-9]+){3}, hedge( [-+][0-9.]+){6}$' \
    '^60 ticks, 0 splits refused$' '^  push, per tick( +[0-9]+\.[0-9]+){4}$' '^  push, per book( +[0-9]+\.[0-9]+){4}$' \
    '^  under +[0-9]+ under +[0-9.]+ +[0-9]+  #' '^  above twice the median: [0-9.]+ % of the ticks$' \
    '^  exposures made zero( +[-+][0-9.]+ %){4}$' '^  variance made least +-[0-9]'
done
"$build/examples/engine" --help >"$work/engine_help"
has "$work/engine_help" '^usage: engine'
# A hole in the prices is no error; other cells that are no price are, and are named.
for i in {0..50}; do
  if [ "$i" = 0 ]; then echo "date$(printf ',a%s' {1..20})"; else echo "$i$(printf ",$((100 + i % 7)).%s" {10..29})"; fi
done >"$work/prices.csv"
sed '20s/,[^,]*$/,/' "$work/prices.csv" >"$work/holey.csv"
"$build/examples/engine" "$work/holey.csv" --ticks 5 --books 3 >"$work/engine"
has "$work/engine" '^5 ticks, 0 splits refused$'
refuses() { # refuses WORDS ARGUMENT...: the engine says so, and fails
  if "$build/examples/engine" "${@:2}" >/dev/null 2>"$work/engine_wrong"; then fail "the engine took ${*:2}"; fi
  has "$work/engine_wrong" "^engine: .*$1"
}
sed '20s/,[^,]*$/,x7/' "$work/prices.csv" >"$work/wrong.csv"
refuses "line 20: 'x7' is no price" "$work/wrong.csv"
sed '30s/,[^,]*$//' "$work/prices.csv" >"$work/wrong.csv"
refuses 'line 30: another number of columns' "$work/wrong.csv"
cut -d, -f1-20 "$work/prices.csv" >"$work/wrong.csv"
refuses 'fewer than 20 columns' "$work/wrong.csv"
head -n 2 "$work/prices.csv" >"$work/wrong.csv"
refuses 'fewer than three lines' "$work/wrong.csv"
refuses 'cannot be read' "$work/missing.csv"
refuses '--ticks takes a number' --ticks 0
refuses '--books takes a number' --books
refuses "unknown argument '--book'" --book 7

# More ticks, not one allocation more.
allocations() {
  valgrind "$@" 2>&1 | sed -n 's/.*total heap usage: \([0-9,]*\) allocs.*/\1/p'
}
same_allocations() { # same_allocations EXAMPLE FEW MANY ARGUMENT...
  local few many
  few=$(allocations "$build/examples/$1" --ticks "$2" "${@:4}")
  many=$(allocations "$build/examples/$1" --ticks "$3" "${@:4}")
  { [ -n "$few" ] && [ "$few" = "$many" ]; } || fail "$1: the loop allocates: $few for $2 ticks, $many for $3"
  passed=$((passed + 1))
}
same_allocations rolling_risk 100 1000
same_allocations engine 50 300 --books 9

echo "examples: $passed passed, 0 failed"
