#!/usr/bin/env bash
# Compiles the gateway as MATLAB's mex would, with the words that make.m gives to mex, on the mock of mex.h, once for
# each of MATLAB's two interfaces, and runs gateway.c on it under AddressSanitizer.
#   tests/matlab/check_gateway.sh STAGE BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
stage=$(cd "$1" && pwd) build=$(cd "$2" && pwd)
cc=${DENISE_CC:-gcc}

mapfile -t words < <(octave-cli --no-history --norc --quiet --eval "
  cd bindings/matlab/private
  words = mex_arguments (fileparts (pwd ()), '$stage', '$build', false, false);
  printf ('%s\n', words{:});")
[ "${words[0]}" = -R2018a ] || { echo 'mex_arguments should begin with -R2018a' >&2; exit 1; }

# What mex makes of these words. -ansi is among the flags of the compiler in R2018a and before, and the words must undo
# it.
flags=(-ansi -fexceptions -fPIC -pthread -DMATLAB_MEX_FILE) sources=() links=()
for ((i = 1; i < ${#words[@]}; ++i)); do
  word=${words[i]}
  case $word in
    -output | -outdir) i=$((i + 1)) ;;
    # shellcheck disable=SC2016,SC2206 # the name is mex's, not the shell's; its flags are to be split
    'CFLAGS=$CFLAGS '*) flags+=(${word#'CFLAGS=$CFLAGS '}) ;;
    # shellcheck disable=SC2016
    'LDFLAGS=$LDFLAGS '*) eval "links+=(${word#'LDFLAGS=$LDFLAGS '})" ;; # in quotes, as for the shell of mex
    *.c) sources+=("$word") ;;
    -I*) flags+=("$word") ;;
    -L* | -l*) links+=("$word") ;;
    *) echo "mex_arguments gives a word that this test does not know: $word" >&2; exit 1 ;;
  esac
done

for interleaved in 1 0; do
  api=$([ $interleaved = 1 ] && echo R2018a || echo R2017b)
  "$cc" "${flags[@]}" -DMX_HAS_INTERLEAVED_COMPLEX=$interleaved -DAPI="\"$api\"" -g -O1 -fsanitize=address,undefined \
    -fno-sanitize-recover=undefined -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror \
    -Itests/matlab/mock tests/matlab/mock/mock.c tests/matlab/mock/gateway.c "${sources[@]}" -o "$build/gateway" \
    "${links[@]}" -lm
  "$build/gateway"
done
