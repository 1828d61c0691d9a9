# The one entrance. `make help` lists what there is.

PREFIX  ?= /usr/local
DESTDIR ?=
CARGO   ?= cargo
CFLAGS  ?= -O2 -g
CXXFLAGS ?= -O2 -g
# make's own default is cc, which a machine with gcc need not have.
ifeq ($(origin CC),default)
CC := gcc
endif

# Cargo's directory, wherever the user has put it.
TARGET := $(or $(CARGO_TARGET_DIR),target)
# C tests and the demo use an installed tree, so that what is tested is what is shipped.
STAGE := build/stage
SMALL_STAGE := build/stage-small
ABI := $(shell sed -n 's/^const ABI: u32 = \([0-9]*\);/\1/p' build.rs)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

WARN := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
C_TEST := -std=c11 $(WARN) -Wstrict-prototypes $(CFLAGS) -I$(STAGE)/include -Itests/c \
          -DMODEL='"models/default.onnx"' -DDENSE='"tests/data/onnx/keras_paper.onnx"' \
          -DOTHER='"tests/data/onnx/double.onnx"'
CXX_TEST := -std=c++17 $(WARN) $(CXXFLAGS) -I$(STAGE)/include
# $ORIGIN: the programs find the library beside their own directory, wherever the tree is.
LINK := -L$(STAGE)/lib -ldenise -lm -pthread -Wl,-rpath,'$$ORIGIN/stage/lib'

.PHONY: all small help demo build-demo examples build-examples build-mex test bench install header lint clean stage \
        test-rust test-header test-library test-c test-alloc test-cpp test-mdspan test-valgrind test-install \
        test-program test-readme test-onnx test-octave test-examples test-need program models results need-cargo need-c need-eigen \
        trust test-trust trust-programs dist test-fuzz fuzz sanitize neon
# One after the other also under make -j: cargo has its own jobs, and the output is for people.
.NOTPARALLEL:

# Cargo chooses features for all packages that it is asked for at once, and compiles tract again if they differ. So who
# needs both the library and the program asks for both each time; who needs the library does not wait for the program.
BOTH := -p denise -p denise-cli
PACKAGES ?= -p denise

all: need-cargo
	$(CARGO) build --release --locked $(PACKAGES)

# Without the ONNX loader and its 83 dependencies: the built-in network and the files that denise writes.
small: need-cargo
	$(CARGO) rustc --profile small --locked --no-default-features --lib --crate-type cdylib,staticlib
	@echo '$(TARGET)/small/libdenise.so'

help:
	@echo 'make                 build the library into $(TARGET)/release'
	@echo 'make small           the library without the loader for other ONNX files, under 1 MB'
	@echo 'make demo            decompose real and synthetic matrices from C++: tables, and pictures as PNG'
	@echo 'make examples        rolling_risk, and Denise beside the methods of the LRS library (LRS_PATH=its folder)'
	@echo 'make test            everything that must hold; what CI runs'
	@echo 'make trust           what docs/TRUST.md promises, at length (about an hour)'
	@echo 'make fuzz            fuzz the loader, decompose and the table readers, SECONDS=1800 each'
	@echo 'make sanitize        the tests under AddressSanitizer, UBSan, ThreadSanitizer and Miri'
	@echo 'make neon            the tests on emulated 64-bit ARM, and its results beside those of AVX2, bit by bit'
	@echo 'make dist            source tarball, bill of materials and checksums into build/dist'
	@echo 'make bench           timings beside onnxruntime, tract and the classical methods, as build/bench/bench.md and .json'
	@echo 'make install PREFIX=/usr/local DESTDIR='
	@echo '                     libraries, headers, pkg-config and CMake files; SMALL=1: the library of make small'
	@echo 'make program         the command-line program, as $(TARGET)/release/denise'
	@echo 'make models          train the networks of models/ again (a quarter of an hour)'
	@echo 'make results         measure all methods again; docs/RESULTS.md, its figures, the table of the README'
	@echo 'make header          regenerate include/denise.h from src/ffi.rs'
	@echo 'make lint            formatting, clippy and rustdoc'
	@echo 'make clean           remove everything that was built'

need-cargo:
	@scripts/need cargo:cargo

need-c: need-cargo
	@scripts/need gcc:gcc g++:g++ strip:binutils gzip:gzip python3:python3

# ---------------------------------------------------------------------------------------------- use

demo: build-demo
	@echo '== 3 of 3: the demo runs, about ten seconds'
	@echo
	@build/demo/demo build/demo/sp500.csv "$(CURDIR)/build/demo"

# Against the library of `make small`: the demo runs the built-in network, and a newcomer should not wait for the compilation
# of an ONNX loader that it does not use.
build-demo: need-c
	@echo '== 1 of 3: the library; the first time this takes a minute or two'
	@$(MAKE) --no-print-directory small
	@echo '== 2 of 3: the demo, a C++ program (examples/cpp/demo.cpp)'
	@[ -d build/demo ] || rm -f build/demo
	@mkdir -p build/demo
	@install -m 755 "$(TARGET)/small/libdenise.so" build/demo/libdenise.so.$(ABI)
	$(CXX) -std=c++17 $(WARN) $(CXXFLAGS) -Iinclude examples/cpp/demo.cpp -o build/demo/demo \
	  build/demo/libdenise.so.$(ABI) -Wl,-rpath,'$$ORIGIN'
	@gzip -dc tests/data/sp500/sp500_dataset.csv.gz > build/demo/sp500.csv

# Every example is one command: build/NAME, or a function for Octave and MATLAB.
examples: build-examples build-mex
	@echo
	@build/rolling_risk build/sp500.csv
	@echo
	@build/compare_lrs --prices build/sp500.csv
	@echo
	@cd examples/matlab && OMP_NUM_THREADS=1 octave-cli --no-history --norc --quiet --eval "compare_lrs (getenv ('LRS_PATH'), 10, '$(CURDIR)/build/compare_lrs.png')"

build-examples: stage
	@echo '== the examples'
	@for name in minimal compare_lrs rolling_risk; do \
	  $(CXX) $(CXX_TEST) "examples/cpp/$$name.cpp" -o "build/$$name" $(LINK) || exit 1; \
	done
	@gzip -dc tests/data/sp500/sp500_dataset.csv.gz > build/sp500.csv

build-mex: stage
	@scripts/need octave-cli:octave mkoctfile:octave-dev
	@mkdir -p build/matlab
	@octave-cli --no-history --norc --quiet --eval "cd bindings/matlab; make ('$(CURDIR)/$(STAGE)', '$(CURDIR)/build/matlab')"

# One run, one report: the kernels alone, then everything side by side.
bench: stage
	@scripts/need python3:python3
	@mkdir -p build/bench
	@python3 -m venv build/bench-venv 2>/dev/null || { scripts/need python3-venv:python3-venv; python3 -m venv build/bench-venv; }
	build/bench-venv/bin/pip install --quiet --disable-pip-version-check -r benches/compare/requirements.txt
	$(CC) -O2 -fPIC -shared tests/c/count_malloc.c -o build/count_malloc.so
	@for name in table dense; do \
	  $(CARGO) bench --locked --bench $$name | tee build/bench/$$name.md || exit 1; \
	done
	build/bench-venv/bin/python benches/compare/bench.py $(STAGE)/lib/libdenise.so models/default.onnx build/count_malloc.so \
	  --out build/bench --native build/bench/table.md build/bench/dense.md

program: need-cargo
	$(CARGO) build --release --locked $(BOTH)

# What models/README.md says made them.
models: program
	scripts/train_models "$(TARGET)/release/denise"

# Everything that is claimed about accuracy, measured again (about ten minutes).
results: program
	"$(TARGET)/release/denise" results --prices tests/data/sp500/sp500_dataset.csv.gz --out docs
	"$(TARGET)/release/denise" plot tests/data/sp500/sp500_dataset.csv.gz --table prices --index 1642 -o docs/figures/window.png
	scripts/readme_table

header: need-cargo
	cp "$$(scripts/generated_header --locked)" include/denise.h

# `install` replaces files rather than writing into them, so that running programs keep the library they opened.
TO = $(DESTDIR)$(PREFIX)
# SMALL=1: the library of `make small` under the same names.
SMALL ?= 0
ifneq ($(filter-out 0 1,$(SMALL)),)
$(error SMALL is 0 or 1, not $(SMALL))
endif
PROFILE := $(if $(filter 1,$(SMALL)),small,release)
# The libraries as they are installed: without debug information, and without names that are not public.
SHIPPED := $(TARGET)/$(PROFILE)/shipped
install: need-c $(if $(filter 1,$(SMALL)),small,all)
	@scripts/ship "$(TARGET)/$(PROFILE)" "$(SHIPPED)"
	@install -d "$(TO)/include" "$(TO)/lib/pkgconfig" "$(TO)/lib/cmake/denise" "$(TO)/share/denise"
	@install -m 644 include/denise.h include/*.hpp "$(TO)/include/"
	@install -m 755 "$(SHIPPED)/libdenise.so" "$(TO)/lib/libdenise.so.$(ABI)"
	@ln -sf libdenise.so.$(ABI) "$(TO)/lib/libdenise.so"
	@install -m 644 "$(SHIPPED)/libdenise.a" "$(TO)/lib/libdenise.a"
	@install -m 644 bindings/tsan.supp "$(TO)/share/denise/tsan.supp"
	@$(FILL) bindings/pkg-config/denise.pc.in > "$(TO)/lib/pkgconfig/denise.pc"
	@for name in denise-config denise-config-version; do \
	  $(FILL) "bindings/cmake/$$name.cmake.in" > "$(TO)/lib/cmake/denise/$$name.cmake" || exit 1; \
	done
	@# The loader finds a new library in its default directories only after ldconfig.
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then \
	  case "$(PREFIX)" in /usr|/usr/local) ldconfig ;; esac; \
	fi
	@echo 'installed into $(TO)'

# Fills in the templates.
FILL = sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g' -e 's|@ABI@|$(ABI)|g'

stage:
	@echo '== the library, installed into $(STAGE)'
	@$(MAKE) --no-print-directory install PREFIX="$(CURDIR)/$(STAGE)" DESTDIR=

clean:
	rm -rf build
	$(CARGO) clean

# --------------------------------------------------------------------------------------------- test

test: export PACKAGES = $(BOTH)
test: lint test-need test-rust test-header test-library test-c test-alloc test-cpp test-octave test-examples \
      test-install test-valgrind test-program test-readme test-onnx test-fuzz test-trust
	@echo '== all tests passed'

lint: need-cargo
	@echo '== lint'
	@scripts/need cargo-fmt:rustup/rustfmt cargo-clippy:rustup/clippy
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --no-deps --quiet -p denise
	CARGO_TARGET_DIR="$(abspath $(TARGET))" $(CARGO) clippy --locked $(FUZZ) --all-targets -- -D warnings

test-need:
	@echo '== nothing is installed unasked'
	tests/check_need.sh

test-rust: need-cargo
	@echo '== Rust tests'
	$(CARGO) test --locked

test-header: stage
	@echo '== the header compiles alone without a warning (tests/header.rs: it is the one that src/ffi.rs gives)'
	@scripts/need clang:clang
	@for compiler in $(CC) clang; do for std in c99 c11 c17; do \
	  echo "header as $$std by $$compiler"; \
	  $$compiler -std=$$std $(WARN) -fsyntax-only -x c include/denise.h || exit 1; \
	done; done
	@for compiler in $(CXX) clang++; do for std in c++11 c++17 c++20; do \
	  echo "header as $$std by $$compiler"; \
	  $$compiler -std=$$std $(WARN) -fsyntax-only -x c++ include/denise.h || exit 1; \
	done; done

test-library: stage
	@echo '== the shared library'
	tests/check_library.sh "$(STAGE)/lib/libdenise.so.$(ABI)" $(ABI) 25000000
	@echo '== the static library'
	tests/check_archive.sh "$(STAGE)/lib/libdenise.a"
	$(CC) $(C_TEST) tests/c/abi.c -o build/abi_static -static "$(STAGE)/lib/libdenise.a" -lm -Wl,--fatal-warnings
	build/abi_static
	DENISE_CC="$(CC)" DENISE_CXX="$(CXX)" tests/check_static.sh "$(STAGE)"
	@echo '== the same without the ONNX loader'
	@$(MAKE) --no-print-directory stage SMALL=1 STAGE=$(SMALL_STAGE)
	tests/check_library.sh "$(SMALL_STAGE)/lib/libdenise.so.$(ABI)" $(ABI) 1000000
	tests/check_archive.sh "$(SMALL_STAGE)/lib/libdenise.a"

test-c: stage
	@echo '== the ABI from C'
	$(CC) $(C_TEST) tests/c/abi.c -o build/abi $(LINK)
	build/abi
	$(CC) $(C_TEST) tests/c/last_error.c -o build/last_error $(LINK)
	build/last_error
	$(CC) $(C_TEST) tests/c/dlopen.c -o build/dlopen -ldl -lm -pthread
	build/dlopen "$(STAGE)/lib/libdenise.so.$(ABI)"

test-alloc: stage
	@echo '== no allocation in decompose'
	$(CC) $(C_TEST) -fPIC -shared tests/c/count_malloc.c -o build/libcount_malloc.so
	$(CC) $(C_TEST) tests/c/no_alloc.c -o build/no_alloc $(LINK)
	$(CC) $(C_TEST) tests/c/dlopen.c -o build/dlopen -ldl -lm -pthread
	LD_PRELOAD="$(CURDIR)/build/libcount_malloc.so" build/no_alloc
	LD_PRELOAD="$(CURDIR)/build/libcount_malloc.so" build/dlopen "$(STAGE)/lib/libdenise.so.$(ABI)"

test-cpp: stage need-eigen
	@echo '== the ABI from C++'
	$(CXX) $(CXX_TEST) tests/cpp/abi.cpp -o build/abi_cpp $(LINK)
	build/abi_cpp
	@echo '== denise.hpp: two compilers, three standards, with and without exceptions'
	@scripts/need g++:g++ clang++:clang
	@for way in 'g++ -std=c++17 -O2' 'g++ -std=c++20 $(NO_EXCEPTIONS)' 'g++ -std=c++2b' \
	  'clang++ -std=c++17 $(NO_EXCEPTIONS)' 'clang++ -std=c++20 -O2' 'clang++ -std=c++2b $(NO_EXCEPTIONS)'; do \
	  echo "$$way"; \
	  $$way $(WARN) -I$(STAGE)/include tests/cpp/hpp.cpp -o build/hpp $(LINK) && build/hpp models/default.onnx || exit 1; \
	done
	@for way in 'g++ -std=c++17' 'clang++ -std=c++2b'; do \
	  $$way $(WARN) -I$(STAGE)/include tests/cpp/mdspan.cpp -o build/mdspan $(LINK) && build/mdspan || exit 1; \
	done
	@echo '== denise_eigen.hpp'
	@for way in 'g++ -std=c++17 -O1' 'clang++ -std=c++20 $(NO_EXCEPTIONS)'; do \
	  echo "$$way"; \
	  $$way $(WARN) -I$(STAGE)/include $(EIGEN) tests/cpp/eigen.cpp -o build/eigen $(LINK) && build/eigen || exit 1; \
	done
	@echo '== the examples in the headers'
	tests/cpp/check_comments.sh g++ -std=c++17 $(WARN) -I$(STAGE)/include $(EIGEN) $(LINK)
	@echo '== what must not compile'
	tests/cpp/check_refused.sh tests/cpp/refused.cpp g++ -std=c++17 -I$(STAGE)/include
	tests/cpp/check_refused.sh tests/cpp/refused.cpp clang++ -std=c++17 -I$(STAGE)/include
	tests/cpp/check_refused.sh tests/cpp/refused_eigen.cpp g++ -std=c++17 -I$(STAGE)/include $(EIGEN)

NO_EXCEPTIONS := -fno-exceptions -fno-rtti
# A recursive variable: pkg-config is asked after need-eigen.
EIGEN = -isystem $(patsubst -I%,%,$(shell pkg-config --cflags-only-I eigen3))

need-eigen:
	@scripts/need pkg-config:pkg-config
	@pkg-config --exists eigen3 || scripts/need /usr/include/eigen3/Eigen/Core:libeigen3-dev

# The real std::mdspan, which the compilers above do not have: tests/cpp/mdspan.hpp stands in for it there.
test-mdspan: stage
	@echo '== std::mdspan, by libc++ 19'
	@scripts/need clang++-19:clang-19
	@scripts/need $(LIBCXX)/mdspan:libc++-19-dev
	$(MDSPAN) $(WARN) tests/cpp/mdspan.cpp -o build/mdspan $(LINK)
	build/mdspan
	tests/cpp/check_refused.sh tests/cpp/refused.cpp $(MDSPAN)

LIBCXX := /usr/lib/llvm-19/include/c++/v1
MDSPAN := clang++-19 -std=c++23 -stdlib=libc++ -I$(STAGE)/include

test-octave: build-mex
	@echo '== the MATLAB binding in Octave'
	@scripts/need readelf:binutils
	octave-cli --no-history --norc --quiet tests/octave/run_tests.m
	@echo '== its gateway as MATLAB would build it'
	DENISE_CC="$(CC)" tests/matlab/check_gateway.sh "$(STAGE)" build

test-examples: build-examples build-demo build-mex
	@echo '== the examples, on little data'
	@scripts/need valgrind:valgrind
	tests/check_examples.sh build

test-install: stage
	@echo '== programs outside the tree, against an installed copy'
	@scripts/need pkg-config:pkg-config cmake:cmake
	DENISE_CC="$(CC)" DENISE_CXX="$(CXX)" MAKE="$(MAKE)" tests/check_install.sh
	@echo '== a host under ThreadSanitizer'
	DENISE_CC="$(CC)" tests/check_tsan.sh "$(STAGE)"

test-valgrind: stage
	@echo '== memcheck'
	@scripts/need valgrind:valgrind
	$(CC) $(C_TEST) tests/c/abi.c -o build/abi $(LINK)
	valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible \
	  build/abi --quick

test-program: program
	@echo '== the program'
	$(CARGO) test --release --locked $(BOTH) --bin denise
	tests/check_program.sh "$(TARGET)/release/denise"

test-readme: stage build-mex program
	@echo '== the snippets, the table and the links of the README'
	DENISE_CC="$(CC)" DENISE_CXX="$(CXX)" CARGO="$(CARGO)" tests/check_readme.sh "$(STAGE)" build "$(TARGET)/release/denise"

# Its own Python environment: nothing is installed outside build/.
test-onnx: program
	@echo '== model files in onnxruntime'
	@scripts/need python3:python3
	@python3 -m venv build/venv 2>/dev/null || { scripts/need python3-venv:python3-venv; python3 -m venv build/venv; }
	build/venv/bin/pip install --quiet --disable-pip-version-check -r tests/onnx/requirements.txt
	tests/onnx/check_models.sh "$(TARGET)/release/denise" build/venv/bin/python

# -------------------------------------------------------------------------------------------- trust

# The programs of tests/trust; docs/TRUST.md says which promise each of them holds.
TRUST := build/trust
TRUST_TEST := $(C_TEST) -Itests/trust -DTORCH='"tests/data/onnx/torch_matrix_legacy.onnx"'
TRUST_LINK := -L$(STAGE)/lib -ldenise -lm -pthread -Wl,-rpath,'$$ORIGIN/../stage/lib'

trust-programs: stage
	@mkdir -p $(TRUST)
	$(CC) $(TRUST_TEST) -fPIC -shared tests/trust/fail_malloc.c -o $(TRUST)/libfail_malloc.so
	$(CC) $(TRUST_TEST) tests/trust/out_of_memory.c -o $(TRUST)/out_of_memory \
	  -L$(TRUST) -lfail_malloc -Wl,-rpath,'$$ORIGIN' -ldl -lm -pthread
	@for name in limits files fork signals hammer modes numbers extremes; do \
	  $(CC) $(TRUST_TEST) "tests/trust/$$name.c" -o "$(TRUST)/$$name" $(TRUST_LINK) || exit 1; \
	done
	$(CC) $(C_TEST) tests/c/dlopen.c -o build/dlopen -ldl -lm -pthread

# The quick part of `make trust`.
test-trust: trust-programs
	@echo '== faults: memory, files, threads, processes'
	$(TRUST)/out_of_memory "$(STAGE)/lib/libdenise.so.$(ABI)" 499
	$(TRUST)/limits models/default.onnx tests/data/onnx/keras_paper.onnx
	$(TRUST)/files $(TRUST)/scratch 1
	$(TRUST)/hammer 5
	$(TRUST)/fork
	$(TRUST)/signals
	$(TRUST)/modes
	build/dlopen "$(STAGE)/lib/libdenise.so.$(ABI)" 1000
	@echo '== the same numbers in every process'
	@$(TRUST)/numbers >$(TRUST)/numbers.txt; outcome=$$?; cat $(TRUST)/numbers.txt; exit $$outcome
	@$(TRUST)/numbers | diff $(TRUST)/numbers.txt - && echo 'ok      another process gives the same digest'
	@echo '== the binary interface'
	@scripts/need abidiff:abigail-tools
	tests/trust/check_abi.sh "$(STAGE)/include" "$(STAGE)/lib/libdenise.so.$(ABI)"
	@echo '== the source tarball'
	CARGO="$(CARGO)" tests/trust/check_dist.sh build/dist

# Everything; a minute of fuzzing for each target (`make fuzz` takes half an hour each).
trust: test-trust test-header test-library test-c test-alloc test-mdspan
	@echo '== faults, at length'
	python3 tests/trust/write_dense.py $(TRUST)/dense.onnx
	$(TRUST)/limits $(TRUST)/dense.onnx
	$(TRUST)/out_of_memory "$(STAGE)/lib/libdenise.so.$(ABI)" 11
	$(TRUST)/files $(TRUST)/scratch 20
	$(TRUST)/hammer 60
	@echo '== extreme matrices'
	$(TRUST)/extremes $(TRUST)/dense.onnx
	@echo '== licences, duplicates, sources'
	@command -v cargo-deny >/dev/null || { echo 'installing cargo-deny into $(TRUST)/tools'; \
	  $(CARGO) install cargo-deny --locked --quiet --root "$(CURDIR)/$(TRUST)/tools"; }
	PATH="$$PATH:$(CURDIR)/$(TRUST)/tools/bin" tests/trust/check_deny.sh
	@echo '== the same bytes in two directories'
	tests/trust/check_reproducible.sh
	$(MAKE) --no-print-directory sanitize
	$(MAKE) --no-print-directory neon
	$(MAKE) --no-print-directory fuzz SECONDS=60
	@echo '== every promise of docs/TRUST.md that can be tested here holds'

dist: need-cargo
	@scripts/need git:git gzip:gzip python3:python3
	@CARGO="$(CARGO)" scripts/dist build/dist

# ------------------------------------------------------------------------------- fuzzing, sanitizers

# Every input that fuzzing has shown to be of interest, without a fuzzer. Uses what test-rust has built.
test-fuzz: need-cargo
	@echo '== kept inputs of the fuzzer'
	$(CARGO) fmt --check --manifest-path fuzz/Cargo.toml
	CARGO_TARGET_DIR="$(abspath $(TARGET))" $(CARGO) test --locked $(FUZZ)

FUZZ := --manifest-path fuzz/Cargo.toml --no-default-features

SECONDS ?= 1800
fuzz:
	@for target in load decompose tables; do \
	  echo "== $$target, $(SECONDS) seconds"; \
	  fuzz/run $$target $(SECONDS) || exit 1; \
	done

sanitize:
	scripts/sanitize

neon:
	scripts/neon
