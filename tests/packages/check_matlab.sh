#!/usr/bin/env bash
# tests/packages/check_matlab.sh DIST: the toolbox in the folder DIST, in Octave and without Rust: with the MEX file
# that comes with it, and with one that its own `make` builds.
set -euo pipefail
dist=$(cd "$1" && pwd)
. "$(dirname "$0")/user.sh"
octave=(octave-cli --no-history --norc --quiet)
name=denise-matlab-$version-linux-x86_64

cd "$work"
unzip -q "$dist/$name.zip"
mv "$name" "a toolbox"
cd "a toolbox"
if find . -type l | grep .; then
  echo "links in the zip file: MATLAB would not unpack them" >&2
  exit 1
fi
cp "$root/examples/matlab/minimal.m" "$work/"

mine=octave-$("${octave[@]}" --eval 'printf ("%s", regexprep (version (), "^(\\d+\\.\\d+).*", "$1"))')
[ -e "$mine/denise_mex.mex" ]
expect "the MEX file for $mine, moved" \
  "${octave[@]}" --eval "addpath (pwd (), fullfile (pwd (), '$mine')); run ('$work/minimal.m')"
"${octave[@]}" --eval 'make' >"$work/made"
grep -qF "with the library in $work/a toolbox/lib" "$work/made"
expect "the MEX file that make builds in the toolbox" \
  "${octave[@]}" --eval "addpath (pwd ()); run ('$work/minimal.m')"
"${octave[@]}" --eval 'addpath (pwd ()); lookfor_text = help ("Contents"); info = denise_info ()' >"$work/info"
echo "ok      help Contents and denise_info"

# The tests of the binding, on this library: MEX file, functions and all.
mkdir "$work/tree"
ln -s "$root"/{tests,models,examples,Makefile} "$work/tree/"
mkdir "$work/tree/bindings"
ln -s "$work/a toolbox" "$work/tree/bindings/matlab"
export DENISE_PREFIX="$work/a toolbox"
(cd "$work/tree" && "${octave[@]}" tests/octave/run_tests.m "$DENISE_PREFIX") >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; exit 1; }
tail -n 1 "$work/log"
