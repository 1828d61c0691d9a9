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
# Tests that run at once under `make test`; seconds for each target of `make fuzz`; 1: the library of `make small`;
# 1: `make results` with few matrices, `make bench` with few repetitions; what `make dist` makes binaries for.
JOBS ?= $(shell nproc)
SECONDS ?= 1800
SMALL ?= 0
QUICK ?= 0
MACHINES ?= x86_64 aarch64
PROFILE := $(word 1,$(patsubst 0,release,$(patsubst 1,small,$(SMALL))))
ifeq ($(filter release small,$(PROFILE)),)
$(error SMALL is 0 or 1, not $(SMALL))
endif

# Cargo's directory, wherever the user has put it.
TARGET := $(or $(CARGO_TARGET_DIR),target)
# C tests and the demo use an installed tree, so that what is tested is what is shipped.
STAGE := build/stage
ABI := $(shell sed -n 's/^const ABI: u32 = \([0-9]*\);/\1/p' build.rs)
LIBRARY := $(STAGE)/lib/libdenise.so.$(ABI)
DENISE := $(TARGET)/release/denise

# Cargo chooses features for all packages that it is asked for at once, and compiles tract again if they differ. So who
# needs the program asks for all that is shipped each time; who needs the library alone does not wait for the rest.
ALL := -p denise-capi -p denise-cli -p denise-python
PACKAGES ?= -p denise-capi
# For the Python package: the stable interface needs no interpreter to be built against.
export PYO3_NO_PYTHON := 1
export PYO3_BUILD_EXTENSION_MODULE := 1
# Without AVX-512, which takes minutes to compile and few machines can run; the C tests have it, and `make avx512`.
RUST := -p denise -p denise-data -p denise-capi -p denise-fuzz --no-default-features \
        --features denise/onnx,denise-capi/onnx,denise-data/generator
OCTAVE := octave-cli --no-history --norc --quiet

WARN := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
C_TEST := -std=c11 $(WARN) -Wstrict-prototypes $(CFLAGS) -I$(STAGE)/include -Itests/c -Itests/trust \
          -DMODEL='"models/default.onnx"' -DDENSE='"tests/data/onnx/keras_paper.onnx"' \
          -DOTHER='"tests/data/onnx/double.onnx"' -DTORCH='"tests/data/onnx/torch_matrix_legacy.onnx"'
CXX_TEST := -std=c++17 $(WARN) $(CXXFLAGS) -I$(STAGE)/include
# $ORIGIN: the programs find the library beside their own directory, wherever the tree is.
LINK := -L$(STAGE)/lib -ldenise -lm -pthread -Wl,-rpath,'$$ORIGIN/../stage/lib'
# For the scripts. Not CC: cargo would build everything again for another compiler.
export DENISE_CC := $(CC)
export DENISE_CXX := $(CXX)
export CARGO
# Without make's own flags, which tell of a job server that cargo cannot reach.
DO := env -u MAKEFLAGS -u MFLAGS $(CARGO)

.DEFAULT_GOAL := all
# Every target but the files in build/.
.PHONY: $(shell sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## what there is
	@awk -F':.* ## ' '/^[a-z-]*:.* ## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# ---------------------------------------------------------------------------------------------- use

all: need ## build the library into target/release
	$(DO) build --release --locked $(PACKAGES)

small: need ## the library without the loader for other ONNX files, under 2.6 MB
	@echo '== the library without the ONNX loader; the first time this takes a minute or two'
	$(DO) rustc --profile small --locked --no-default-features --lib --crate-type cdylib,staticlib
	@echo '$(TARGET)/small/libdenise.so'

demo: build-demo ## decompose real and synthetic matrices from C++: tables, and pictures as PNG
	@echo '== the demo runs, about ten seconds'
	@echo
	@build/demo/demo build/demo/sp500.csv "$(CURDIR)/build/demo"

# With the library of `make small`: a newcomer should not wait for an ONNX loader that the demo does not use.
build-demo: small
	@echo '== the demo, a C++ program (examples/cpp/demo.cpp)'
	@scripts/build_demo "$(TARGET)/small/libdenise.so" build/demo -std=c++17 $(WARN) $(CXXFLAGS)

examples: build-examples build-mex ## rolling_risk, engine, min_variance, and Denise beside the LRS library (LRS_PATH=its folder)
	@build/examples/rolling_risk build/examples/sp500.csv
	@build/examples/engine build/examples/sp500.csv
	@build/examples/min_variance build/examples/sp500.csv
	@build/examples/compare_lrs --prices build/examples/sp500.csv
	@cd examples/matlab && OMP_NUM_THREADS=1 $(OCTAVE) \
	  --eval "compare_lrs (getenv ('LRS_PATH'), 10, '$(CURDIR)/build/compare_lrs.png')"

build-examples: $(addprefix build/examples/,minimal stream compare_lrs rolling_risk engine min_variance)
	@gzip -dc tests/data/sp500/sp500_dataset.csv.gz > build/examples/sp500.csv

build-mex: stage
	@scripts/need octave-cli:octave mkoctfile:octave-dev
	@mkdir -p build/matlab
	@$(OCTAVE) --eval "cd bindings/matlab; make ('$(CURDIR)/$(STAGE)', '$(CURDIR)/build/matlab')"

program: need ## the command-line program, as target/release/denise
	$(DO) build --release --locked $(ALL)

models: program ## train the networks of models/ again (a quarter of an hour)
	scripts/train_models "$(DENISE)"

# Quick figures never replace those that were measured at length.
RESULTS := $(if $(filter 1,$(QUICK)),build/results-quick,docs)
# Another seed than the one with which the page was written: what it reports was not looked at before.
SEED ?= 2027
# One core each for the linear algebra of Python and for what is timed here.
results: program build/venv-evidence ## measure everything again: docs/RESULTS.md (half an hour; QUICK=1: minutes)
	@$(MAKE) --no-print-directory stage PACKAGES='$(ALL)'
	@mkdir -p $(RESULTS)
	build/venv-evidence/bin/python -m unittest discover --quiet evidence
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 build/venv-evidence/bin/python evidence/usefulness.py \
	  --library "$(LIBRARY)" --out $(RESULTS)/usefulness.json --seed $(SEED) $(if $(filter 1,$(QUICK)),--quick)
	"$(DENISE)" results --prices tests/data/sp500/sp500_dataset.csv.gz \
	  $(addprefix --stability tests/data/panels/,stocks74.csv.gz futures49.csv.gz) \
	  --usefulness $(RESULTS)/usefulness.json --seed $(SEED) --out $(RESULTS) $(if $(filter 1,$(QUICK)),--quick)
	"$(DENISE)" plot tests/data/sp500/sp500_dataset.csv.gz --table prices --index 1642 -o $(RESULTS)/figures/window.png
	$(if $(filter 1,$(QUICK)),@echo '$(RESULTS)/RESULTS.md',scripts/readme_table)

bench-python: stage python build/venv-python ## what a call from Python costs above the library's own time
	scripts/install_wheel build/wheels build/venv-python
	$(CC) $(C_TEST) -fPIC -shared benches/python/loop.c -o build/loop.so $(subst ../stage,stage,$(LINK))
	build/venv-python/bin/python benches/python/overhead.py build/loop.so tests/data/sp500/sp500_dataset.csv.gz

# The first time, the library of version 0.1.0 is built beside; that takes minutes, too.
bench: stage build/venv-bench build/c/libcount_malloc.so ## timings beside 0.1.0, LAPACK and others (QUICK=1: minutes)
	@scripts/need git:git
	QUICK=$(QUICK) DENISE_PACKAGES='$(PACKAGES)' \
	  benches/run build/bench build/venv-bench/bin/python $(STAGE)/lib/libdenise.so build/c/libcount_malloc.so

header: need ## regenerate include/denise.h from src
	cp "$$(scripts/generated_header --locked)" include/denise.h

# Without other packages to be built with, the wheel is built alone.
PYTHON ?= python3
python: need build/venv-maturin ## the Python package, as a wheel in build/wheels (PYTHON=python3.14t: for that one)
	DENISE_PACKAGES="$(if $(findstring denise-python,$(PACKAGES)),$(PACKAGES))" \
	  scripts/wheel build/wheels build/venv-maturin/bin/maturin "$(PYTHON)"

install: need $(if $(filter small,$(PROFILE)),small,all) ## into PREFIX=/usr/local DESTDIR=; SMALL=1: the small library
	@scripts/install "$(TARGET)/$(PROFILE)" "$(PREFIX)" "$(DESTDIR)"

stage stage-small: need
	@$(MAKE) --no-print-directory install PREFIX="$(CURDIR)/build/$@" DESTDIR= SMALL=$(if $(filter stage-small,$@),1,0)

dist: program build/venv-zig ## packages into build/dist: source, binaries, .deb, toolbox, crate, recipes (half an hour)
	@scripts/need git:git dpkg-deb:dpkg zip:zip mkoctfile:octave-dev
	@scripts/dist build/dist build/venv-zig $(MACHINES)

clean: ## remove everything that was built
	rm -rf build
	$(DO) clean

need:
	@scripts/need cargo:cargo gcc:gcc g++:g++ strip:binutils gzip:gzip python3:python3

# ------------------------------------------------------------------------------------------- check

check: need ## after every edit: formatting, clippy, words, the library's quick tests
	$(DO) fmt --all --check
	tests/check_words.sh
	$(DO) clippy --locked $(RUST) -- -D warnings
	$(DO) test --locked $(RUST) --lib --test bits --test boundary --test header --test house

# What is missing is installed first, at once: two tests cannot call apt at the same time.
test: need ## everything that must hold; what CI runs
	@scripts/need clang:clang cmake:cmake pkg-config:pkg-config valgrind:valgrind octave-cli:octave \
	  mkoctfile:octave-dev gnuplot:gnuplot-nox \
	  /usr/share/fonts/opentype/freefont/FreeSans.otf:fonts-freefont-otf abidiff:abigail-tools /usr/include/eigen3/Eigen/Core:libeigen3-dev
	@$(MAKE) --no-print-directory --output-sync=target -j$(JOBS) PACKAGES='$(ALL)' $(TESTS)
	@echo '== all tests passed'

TESTS := lint test-need test-rust test-header test-library test-static test-c test-alloc test-cpp \
         test-octave test-gateway test-examples test-install test-tsan test-valgrind test-program test-readme \
         test-python test-onnx test-trust test-dist

lint: need ## formatting, clippy, rustdoc and words
	@scripts/need cargo-fmt:rustup/rustfmt cargo-clippy:rustup/clippy
	$(DO) fmt --all --check
	tests/check_words.sh
	$(DO) clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(DO) doc --locked --no-deps --quiet --workspace

test-need: # nothing is installed unasked
	tests/check_need.sh

test-rust: need # with every input that fuzzing has shown to be of interest, without a fuzzer
	$(DO) test --locked $(RUST)

test-header: # it compiles alone without a warning; tests/header.rs: it is the one that src gives
	tests/c/check_header.sh $(WARN)

test-library: stage stage-small
	tests/check_library.sh "$(LIBRARY)" $(ABI) 25000000
	tests/check_archive.sh "$(STAGE)/lib/libdenise.a"
	tests/check_library.sh "build/stage-small/lib/libdenise.so.$(ABI)" $(ABI) 2600000
	tests/check_archive.sh build/stage-small/lib/libdenise.a

test-static: stage
	@mkdir -p build/c
	$(CC) $(C_TEST) tests/c/abi.c -o build/c/abi_static -static "$(STAGE)/lib/libdenise.a" -lm -Wl,--fatal-warnings
	build/c/abi_static
	tests/check_static.sh "$(STAGE)"

test-c: $(addprefix build/c/,abi stream covariance last_error old_caller dlopen)
	build/c/abi
	build/c/stream
	build/c/covariance
	build/c/last_error
	build/c/old_caller
	build/c/dlopen "$(LIBRARY)"

test-alloc: build/c/libcount_malloc.so build/c/no_alloc build/c/dlopen # no allocation in decompose, nor in streams
	LD_PRELOAD="$(CURDIR)/build/c/libcount_malloc.so" build/c/no_alloc
	LD_PRELOAD="$(CURDIR)/build/c/libcount_malloc.so" build/c/dlopen "$(LIBRARY)"

test-cpp: stage
	tests/cpp/check.sh "$(STAGE)" build/cpp $(WARN)

test-mdspan: stage # the real std::mdspan, which the compilers of test-cpp do not have
	tests/cpp/check_mdspan.sh "$(STAGE)" build/cpp $(WARN)

test-octave: build-mex
	$(OCTAVE) tests/octave/run_tests.m

test-gateway: stage # the MATLAB binding as MATLAB would build it
	tests/matlab/check_gateway.sh "$(STAGE)" build

test-examples: build-examples build-demo build-mex
	@scripts/need valgrind:valgrind
	tests/check_examples.sh build

test-install: stage # programs outside the tree, against an installed copy
	@scripts/need pkg-config:pkg-config cmake:cmake
	MAKE="$(MAKE)" tests/check_install.sh

test-tsan: stage
	tests/check_tsan.sh "$(STAGE)"

test-valgrind: $(addprefix build/c/,abi stream covariance)
	@scripts/need valgrind:valgrind
	for test in abi stream covariance; do valgrind --quiet --error-exitcode=99 --leak-check=full \
	  --errors-for-leak-kinds=definite,possible build/c/$$test --quick || exit 1; done

test-program: program
	$(DO) test --release --locked $(ALL) --bin denise
	tests/check_program.sh "$(DENISE)"

# After the Rust tests, which have built the library for the snippet in Rust.
test-readme: stage build-mex program test-rust test-python
	tests/check_readme.sh "$(STAGE)" build "$(DENISE)" build/venv-python/bin/python

test-python: stage program python build/venv-python # in an environment of its own, with the real packages from PyPI
	scripts/install_wheel build/wheels build/venv-python
	DENISE_LIBRARY="$(CURDIR)/$(LIBRARY)" DENISE_PROGRAM="$(CURDIR)/$(DENISE)" \
	  bindings/python/tests/check.sh build/venv-python/bin/python

test-onnx: program build/venv-onnx # model files in onnxruntime
	tests/onnx/check_models.sh "$(DENISE)" build/venv-onnx/bin/python

test-trust: trust-programs # the quick part of `make trust`
	@scripts/need abidiff:abigail-tools
	tests/trust/check_faults.sh "$(LIBRARY)" build/trust
	tests/trust/check_abi.sh "$(STAGE)/include" "$(LIBRARY)"

test-dist: need
	tests/trust/check_dist.sh build/dist-source

test-packages: dist build/venv-conan # what `make dist` made, as its users take it
	@scripts/need lintian:lintian man:man-db cmake:cmake pkg-config:pkg-config unzip:unzip \
	  octave-cli:octave
	tests/packages/check.sh build/dist "$(TARGET)/release" build/venv-conan/bin/conan $(MACHINES)

# ------------------------------------------------------------------------------------------- trust

TRUST := limits files fork signals hammer modes numbers extremes first_call
trust-programs: $(addprefix build/trust/,$(TRUST) out_of_memory) build/c/dlopen

trust: test-trust test-header test-library test-static test-c test-alloc test-mdspan ## all of docs/TRUST.md, at length
	tests/trust/check_faults.sh "$(LIBRARY)" build/trust --long
	tests/trust/check_deny.sh
	tests/trust/check_reproducible.sh
	$(MAKE) --no-print-directory sanitize
	$(MAKE) --no-print-directory neon
	$(MAKE) --no-print-directory avx512
	$(MAKE) --no-print-directory test-packages
	$(MAKE) --no-print-directory windows
	$(MAKE) --no-print-directory fuzz SECONDS=60
	@echo '== every promise of docs/TRUST.md that can be tested here holds'

fuzz: ## fuzz the loader, decompose, covariances, streams and the table readers, SECONDS=1800 each
	@for target in load decompose covariance stream tables; do \
	  echo "== $$target, $(SECONDS) seconds"; \
	  fuzz/run $$target $(SECONDS) || exit 1; \
	done

sanitize: ## the tests under AddressSanitizer, UBSan, ThreadSanitizer and Miri
	scripts/sanitize

windows: ## denise.dll and denise.exe into build/windows, tested in wine, and their results beside those of Linux
	scripts/windows

neon: ## the tests on emulated 64-bit ARM, and its results beside those of AVX2, bit by bit
	scripts/neon

avx512: ## tests on emulated AVX-512, and its results beside those of AVX2, bit by bit
	scripts/avx512

# ---------------------------------------------------------------------------------- programs of tests

# These open the library themselves.
build/c/dlopen build/trust/out_of_memory: LINK := -ldl -lm -pthread
build/trust/out_of_memory: build/trust/libfail_malloc.so
build/trust/out_of_memory: LINK += -Lbuild/trust -lfail_malloc -Wl,-rpath,'$$ORIGIN'

define programs # of a folder of tests
build/$(1)/lib%.so: tests/$(1)/%.c | stage
	@mkdir -p $$(@D)
	$$(CC) $$(C_TEST) -fPIC -shared $$< -o $$@
build/$(1)/%: tests/$(1)/%.c include/denise.h | stage
	@mkdir -p $$(@D)
	$$(CC) $$(C_TEST) $$< -o $$@ $$(LINK)
endef
$(eval $(call programs,c))
$(eval $(call programs,trust))

build/examples/%: examples/cpp/%.cpp include/denise.h include/denise.hpp | stage
	@mkdir -p $(@D)
	$(CXX) $(CXX_TEST) $< -o $@ $(LINK)

build/venv-maturin: bindings/python/requirements-build.txt
build/venv-python: bindings/python/requirements-test.txt
build/venv-bench: benches/compare/requirements.txt
build/venv-onnx: tests/onnx/requirements.txt
build/venv-evidence: evidence/requirements.txt
build/venv-zig: packaging/build/requirements.txt
build/venv-conan: packaging/conan/requirements.txt
build/venv-%:
	scripts/venv $@ $<
	@touch $@
