#!/usr/bin/env bash
# tests/windows/check_mex.sh STAGE BUILD
#
# The MEX file's sources compile for Windows with Octave's headers. On the mock of MATLAB's mex.h, with the words that
# make.m gives to mex on Windows, they link with denise.lib, and the mock's tests run in wine.
set -euo pipefail
stage=$(cd "$1" && pwd) build=$2
cd "$(dirname "$0")/../.."
scripts/need octave-cli:octave mkoctfile:octave-dev
. tests/windows/wine.sh
export WINEPATH=$stage/bin
mkdir -p "$build"
build=$(cd "$build" && pwd)
cc=x86_64-w64-mingw32-gcc

read -ra octave < <(mkoctfile -p INCFLAGS)
for source in bindings/matlab/mex/*.c; do
  # Octave's sizes have a sign where MATLAB's have none.
  $cc -std=gnu11 -Wall -Wextra -Wno-sign-compare -Werror "-I$stage/include" "${octave[@]}" \
    -c "$source" -o "$build/octave.o"
done
echo "ok      the MEX sources compile for Windows with Octave's headers"

mapfile -t words < <(octave-cli --no-history --norc --quiet --eval "
  cd bindings/matlab/private
  words = mex_arguments (fileparts (pwd ()), '$stage', '$build', false, true);
  printf ('%s\n', words{:});")
flags=(-fexceptions -DMATLAB_MEX_FILE) rest=()
for ((i = 1; i < ${#words[@]}; ++i)); do
  word=${words[i]}
  case $word in
    -output | -outdir) i=$((i + 1)) ;;
    # shellcheck disable=SC2016,SC2206 # the name is mex's, not the shell's; its flags are to be split
    'CFLAGS=$CFLAGS '*) flags+=(${word#'CFLAGS=$CFLAGS '}) ;;
    COMPFLAGS=*) ;; # for Visual C
    *.c | *.lib | -I*) rest+=("$word") ;;
    *) echo "mex_arguments gives a word that this test does not know: $word" >&2; exit 1 ;;
  esac
done
for interleaved in 1 0; do
  api=$([ $interleaved = 1 ] && echo R2018a || echo R2017b)
  $cc "${flags[@]}" -DMX_HAS_INTERLEAVED_COMPLEX=$interleaved -DAPI="\"$api\"" -g -O1 -Wall -Wextra -Wpedantic \
    -Wconversion -Wno-float-conversion -Wshadow -Werror -Itests/matlab/mock tests/matlab/mock/mock.c \
    tests/matlab/mock/gateway.c "${rest[@]}" -o "$build/gateway.exe" -static
  wine "$build/gateway.exe"
done
