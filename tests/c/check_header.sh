#!/usr/bin/env bash
# tests/c/check_header.sh FLAGS...: the header compiles alone, in every standard, by two compilers, without a warning.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/need clang:clang
for compiler in "${DENISE_CC:-gcc}" clang; do
  for std in c99 c11 c17; do
    "$compiler" -std=$std "$@" -fsyntax-only -x c include/denise.h
    echo "ok      the header as $std by $compiler"
  done
done
for compiler in "${DENISE_CXX:-g++}" clang++; do
  for std in c++11 c++17 c++20; do
    "$compiler" -std=$std "$@" -fsyntax-only -x c++ include/denise.h
    echo "ok      the header as $std by $compiler"
  done
done
