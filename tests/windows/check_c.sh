#!/usr/bin/env bash
# tests/windows/check_c.sh STAGE BUILD small|full
#
# The C tests against the DLL in STAGE, run in wine. What needs the loader for networks of other programs runs with
# `full` only.
set -euo pipefail
stage=$(cd "$1" && pwd) build=$2 kind=$3
cd "$(dirname "$0")/../.."
. tests/windows/wine.sh
export WINEPATH=$stage/bin
mkdir -p "$build/scratch"

cc=x86_64-w64-mingw32-gcc
# mingw's isnan looks at the types of its argument in branches that are never taken, of which -Wfloat-conversion warns.
flags=(-std=c11 -O2 -g -Wall -Wextra -Wpedantic -Wconversion -Wno-float-conversion -Wshadow -Werror -Wstrict-prototypes
  "-I$stage/include" -Itests/c -Itests/trust -Itests/windows/include
  '-DMODEL="models/default.onnx"' '-DDENSE="tests/data/onnx/keras_paper.onnx"'
  '-DOTHER="tests/data/onnx/double.onnx"' '-DTORCH="tests/data/onnx/torch_matrix_legacy.onnx"')
[ "$kind" = full ] || flags+=(-DSMALL)
# The test itself needs no other DLL either.
link=("-L$stage/lib" -ldenise -static -pthread -lpsapi)
# A system header is cleverer than gcc thinks.
$cc -std=c11 -O2 -g -Wall -Wextra -Wconversion -Wshadow -Werror -Wno-array-bounds -Itests/trust \
  -c tests/windows/heap.c -o "$build/heap.o"

build() { # build FOLDER/NAME [OBJECT]
  $cc "${flags[@]}" "tests/$1.c" "${@:2}" -o "$build/$(basename "$1").exe" "${link[@]}"
}
run() { # run NAME ARGUMENTS...
  local name=$1
  shift
  timeout 900 "$DENISE_WINE" "$build/$name.exe" "$@"
}

for test in abi stream covariance last_error old_caller; do
  build c/$test
  run $test
done
build windows/paths
run paths models/default.onnx "$build/scratch"

echo '== no allocation, and the counter counts'
build c/no_alloc "$build/heap.o"
run no_alloc
build c/dlopen "$build/heap.o"
run dlopen "$stage/bin/denise.dll" 1000
build windows/counter "$build/heap.o"
run counter

echo '== memory that cannot be had'
link=(-static -pthread -lpsapi)
build trust/out_of_memory "$build/heap.o"
build windows/ends
link=("-L$stage/lib" -ldenise -static -pthread -lpsapi)
run out_of_memory "$stage/bin/denise.dll" 499

echo '== a process ends with a model loaded'
for way in 0 1 2 3; do
  for _ in 1 2 3 4 5; do run ends "$stage/bin/denise.dll" $way; done
done
echo 'ok      20 processes, 4 ways'

if [ "$kind" = full ]; then
  for test in modes hammer numbers; do
    build trust/$test
  done
  run modes
  run hammer 5
  run numbers | tee "$build/numbers.txt"
fi
