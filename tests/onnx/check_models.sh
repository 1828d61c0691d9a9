#!/usr/bin/env bash
# Every model that ships, and one of another size, in onnxruntime against the library: 1,000 matrices each.
set -euo pipefail
denise=$1
python=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(dirname "$0")

"$denise" generate --count 1000 --seed 5 --out "$work"
for model in "$here"/../../models/*.onnx; do
  "$denise" decompose "$work/M.npy" --model "$model" --out "$work/out" > /dev/null
  "$python" "$here/check.py" "$model" "$work/M.npy" "$work/out/L.npy"
done
