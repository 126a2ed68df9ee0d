# SPDX-License-Identifier: BSD-3-Clause
#
# A short front to CMake: `make help` lists what it knows.

PREFIX ?= /usr/local
VERSION = $(shell sed -n 's/^project.heddle VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
JOBS   ?= $(shell nproc)
BUILD  := build/release

# Seconds that `make stress` runs; `make check` takes the tests' own short time.
STRESS_SECONDS ?= 600

CLANG_VERSION := 19
C_FILES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cpp' '*.hpp')

# ThreadSanitizer wants its addresses where it expects them; some containers forbid to ask for that.
FIXED_ADDRESSES = $(shell setarch $$(uname -m) -R true 2>/dev/null && echo setarch $$(uname -m) -R)

.PHONY: release
release:  ## build everything, tests and benchmarks too (default)
	cmake --preset release -DHEDDLE_TESTS=ON
	cmake --build --preset release --parallel $(JOBS)

# A build that was configured keeps its settings, and sees what has been installed or removed since.
.PHONY: configured
configured:
	@if [ -f $(BUILD)/build.ninja ]; then cmake $(BUILD); else cmake --preset release -B $(BUILD) -DHEDDLE_TESTS=OFF; fi

# What the demonstration runs; what is installed.
.PHONY: demonstration product
demonstration product:
	@tools/dependencies.sh demo
	@$(MAKE) --no-print-directory configured
	cmake --build $(BUILD) --parallel $(JOBS) --target $@

build/%/build.ninja:
	cmake --preset $*

.PHONY: demo
demo: demonstration  ## a multithreaded MPI program, then threads against processes
	@bench/demo.sh $(BUILD)

# Tests that measure, repeat or take a minute have the label `long` (tests/CMakeLists.txt). Those that wait sleep, so that
# more run at once than there are cores.
QUICK     := -LE 'long|stress'
TEST_JOBS ?= $(shell echo $$(($(JOBS) * 2)))
RUN_TESTS  = tests/run.py $(1) --parallel $(TEST_JOBS)

.PHONY: check
check:  ## the tests, and the unit tests under ThreadSanitizer
	@tools/dependencies.sh demo check bench
	@$(MAKE) --no-print-directory check-release LIST="$(QUICK)"
	@$(MAKE) --no-print-directory check-tsan LIST="$(QUICK)"

.PHONY: check-all
check-all:  ## all tests, also long ones, and the unit tests under both sanitizers
	@tools/dependencies.sh demo check bench
	@$(MAKE) --no-print-directory check-release
	@$(MAKE) --no-print-directory check-tsan
	@$(MAKE) --no-print-directory check-asan

.PHONY: fresh
fresh:  ## try what the README says in a Debian made anew (as root)
	@tools/dependencies.sh fresh
	@tools/fresh.sh

.PHONY: cross
cross:  ## build for aarch64 in a Debian made anew, and try it under qemu-user (as root, an hour)
	@tools/dependencies.sh fresh
	@tools/cross.sh

.PHONY: check-release
check-release: release
	$(call RUN_TESTS,$(BUILD)) $(LIST)

.PHONY: check-tsan
check-tsan: build/tsan/build.ninja  ## the unit tests under ThreadSanitizer
	cmake --build --preset tsan --parallel $(JOBS) --target unit_tests
	TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1 $$TSAN_OPTIONS" UNIT_TEST_LIMIT=900 \
	  $(FIXED_ADDRESSES) $(call RUN_TESTS,build/tsan) -L unit $(LIST)

.PHONY: check-asan
check-asan: build/asan-ubsan/build.ninja  ## the unit tests under AddressSanitizer and UBSan
	cmake --build --preset asan-ubsan --parallel $(JOBS) --target unit_tests
	UBSAN_OPTIONS="print_stacktrace=1 $$UBSAN_OPTIONS" UNIT_TEST_LIMIT=900 $(call RUN_TESTS,build/asan-ubsan) -L unit $(LIST)

.PHONY: clients
clients: release  ## all parallel tests of HDF5 and PnetCDF, Intel's benchmarks, Debian's programs, which takes hours
	tests/clients/hdf5/testpar.sh build $(BUILD) $(BUILD)/tests/clients/hdf5
	tests/clients/hdf5/testpar.sh run $(BUILD) $(BUILD)/tests/clients/hdf5 4 all
	tests/clients/pnetcdf/ptests.sh build $(BUILD) $(BUILD)/tests/clients/pnetcdf
	tests/clients/pnetcdf/ptests.sh run $(BUILD) $(BUILD)/tests/clients/pnetcdf all
	tests/clients/imb/imb.py fetch $(BUILD)/tests/clients/imb
	tests/clients/imb/imb.py run $(BUILD) $(BUILD)/tests/clients/imb
	@tools/dependencies.sh bench
	tests/clients/debian/programs.py fetch $(BUILD)/tests/clients/debian
	tests/clients/debian/programs.py run $(BUILD) $(BUILD)/tests/clients/debian --rounds 3

.PHONY: install
install: product  ## install to PREFIX (default /usr/local)
	cmake --install $(BUILD) --prefix "$(PREFIX)"

.PHONY: wheel
wheel:  ## a wheel for PyPI in build/wheel, checked in an environment of its own
	@tools/dependencies.sh demo python
	@packaging/wheel/build.py build/wheel
	@packaging/wheel/check.py build/wheel/heddle_mpi-*.whl "build/wheel/venv/bin/python -m auditwheel"

.PHONY: tarball
tarball:  ## an archive that runs from any folder, in build/wheel; the library is that of the wheel
	@tools/dependencies.sh demo python
	@packaging/wheel/build.py --tarball build/wheel
	@packaging/wheel/check.py build/wheel/heddle-*.tar.gz

.PHONY: source
source:  ## an archive of the sources as they are committed, for recipes of others
	@mkdir -p build
	git archive --format=tar.gz --prefix=heddle-$(VERSION)/ --output=build/heddle-$(VERSION).tar.gz HEAD

.PHONY: recipes
recipes:  ## check the recipes for Spack, EasyBuild, conda and others, with what PyPI has of their tools
	@tools/dependencies.sh python
	@packaging/recipes.py --tools build/recipes

.PHONY: site
site:  ## the documentation as a site in build/site, its links checked; SEE=chromium takes pictures of it
	@tools/dependencies.sh python $(if $(SEE),site)
	@docs/site/build.py build/site $(if $(SEE),--look $(SEE))

.PHONY: deb
deb:  ## Debian packages in build/deb, looked at by lintian
	@tools/dependencies.sh demo deb
	@packaging/deb.sh build/deb

.PHONY: bench
bench:  ## the benchmarks; bench/ says what they measure
	@tools/dependencies.sh demo check bench
	@$(MAKE) --no-print-directory release
	bench/compare.py --build $(BUILD) --brief

# ONLY, SECONDS and ROUNDS choose what is measured, for how long and how often (bench/README.md).
ONLY    ?= pair
SECONDS ?= 0.05
ROUNDS  ?= 5
.PHONY: peers
peers: product  ## one pair and small collectives beside other MPIs, from PyPI
	bench/compare.py --build $(BUILD) --only $(ONLY) --seconds $(SECONDS) --rounds $(ROUNDS) \
	  --log $(BUILD)/peers.log $$(bench/peers.sh build/peers)

.PHONY: peers-hosts
peers-hosts: product  ## jobs on two hosts beside other MPIs, from PyPI (as root)
	bench/compare_hosts.py --build $(BUILD) $(if $(filter-out pair,$(ONLY)),--only $(ONLY)) $(if $(BYTES),--bytes $(BYTES)) \
	  --seconds $(SECONDS) --rounds $(ROUNDS) --page $(BUILD)/hosts.md $$(bench/peers.sh build/peers)

.PHONY: stress
stress: release  ## the stress tests, for STRESS_SECONDS (default 600)
	HEDDLE_STRESS_SECONDS=$(STRESS_SECONDS) \
	  ctest --test-dir $(BUILD) --verbose -L stress

.PHONY: header
header:  ## write include/mpi.h from the facts in abi/
	abi/generate_header.py

.PHONY: format
format:  ## format the sources with clang-format
	@tools/dependencies.sh format
	clang-format-$(CLANG_VERSION) -i $(C_FILES)

.PHONY: tidy
tidy:  ## look at the sources with clang-tidy
	@tools/dependencies.sh format
	@$(MAKE) --no-print-directory build/dev/build.ninja
	cmake --build --preset dev --parallel $(JOBS)
	run-clang-tidy-$(CLANG_VERSION) -quiet -p build/dev -j $(JOBS) "$(CURDIR)/(src|cmd)/.*"

.PHONY: clean
clean:  ## remove what was built
	rm -rf build

.PHONY: help
help:  ## this list
	@awk -F ':.*  ## ' '/^[a-z-]+:.*  ## / { printf "    make %-12s %s\n", $$1, $$2 }' Makefile
