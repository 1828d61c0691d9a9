#!/usr/bin/env bash
# tests/windows/check_program.sh STAGE PROGRAM
#
# denise.exe in wine gives what PROGRAM gives, the same program for this machine: to the byte, also where names of files
# are not ASCII, and over files that are already there.
set -euo pipefail
stage=$(cd "$1" && pwd) program=$(realpath "$2")
cd "$(dirname "$0")/../.."
. tests/windows/wine.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prices=$PWD/tests/data/sp500/sp500_dataset.csv.gz
gaps=$PWD/tests/data/panels/futures12.csv.gz
cd "$work"
mkdir 'Kurse 価格'
cp "$prices" 'Kurse 価格/prices é.csv.gz'
cp "$gaps" gaps.csv.gz

for exe in "$program" "wine $stage/bin/denise.exe"; do
  to=linux
  case $exe in wine*) to=windows ;; esac
  for again in 1 2; do # the second time the files are there
    $exe decompose 'Kurse 価格/prices é.csv.gz' --table prices --out "Größe $to" >/dev/null
    $exe covariance 'Kurse 価格/prices é.csv.gz' --out "sigma $to" >/dev/null
    $exe decompose gaps.csv.gz --table prices --missing --out "gaps $to" >/dev/null
  done
  $exe rank 'Kurse 価格/prices é.csv.gz' | tr -d '\r' >"rank $to.txt"
  cp "$OLDPWD/models/default.onnx" 'модель.onnx'
  $exe info 'модель.onnx' | tr -d '\r' >"info $to.txt"
  ! $exe decompose 'нет.csv' --table prices --out none >/dev/null 2>"missing $to.txt"
  grep -q 'нет.csv' "missing $to.txt"
done
for what in Größe sigma gaps; do
  # But for the time that it took.
  diff -r -I "\"microseconds_per_matrix\":" "$what linux" "$what windows"
  [ -n "$(ls "$what windows")" ]
  echo "ok      $what: $(ls "$what windows" | wc -l) files as on Linux"
done
diff 'rank linux.txt' 'rank windows.txt'
diff 'info linux.txt' 'info windows.txt'
if find . -name '*.tmp' | grep .; then
  echo 'temporary files stay behind' >&2
  exit 1
fi
echo 'ok      denise.exe opens and writes names that are not ASCII, and replaces files'
