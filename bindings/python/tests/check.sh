#!/usr/bin/env bash
# bindings/python/tests/check.sh PYTHON: everything that must hold for the Python package that is installed in the
# environment of PYTHON: its tests, the examples in its documentation, and its types.
# DENISE_LIBRARY names a libdenise.so to compare bits with, DENISE_PROGRAM the program denise.
set -euo pipefail
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")"
# One core each for the linear algebra of NumPy: other tests run beside.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLBACKEND=agg
"$python" -m pytest -q -p no:cacheprovider .
"$python" -m mypy --config-file typing/mypy.ini --cache-dir /dev/null -p denise
"$python" -m mypy --config-file typing/mypy.ini --cache-dir /dev/null typing/consumer.py
"$python" -m mypy.stubtest denise._denise --concise --ignore-missing-stub --allowlist typing/stubtest.txt
