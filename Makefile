# Everything that a newcomer needs; `make help` lists it. Each target does its own set-up.
PYTHON := /usr/bin/python3
JOBS := $(shell nproc)
# ON: a compiler's warning ends the build. For contributors and CI; a user's newer compiler may warn of more
WERROR ?= OFF

# where `make install` puts things; DESTDIR goes before it, for packagers
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help build demo test quick sanitize bench verify examples docs install uninstall deb wheel schema format clean

help:
	@echo "make demo      build, then reduce a flexible mechanism to an ODE with six unknowns, with the evidence in figures"
	@echo "make test      build, then run every test"
	@echo "make quick     build and test only what differs from main touches, or from BASE=COMMIT; then make test decides"
	@echo "make sanitize  unit and command-line tests under address and undefined-behaviour sanitizers (builds all once more: hours)"
	@echo "make bench     build, then measure; writes build/bench.json (takes some minutes)"
	@echo "make verify    build, then compute problems whose answers are known, in one table with figures (two minutes)"
	@echo "make examples  run every example folder as shipped"
	@echo "make docs      the documentation as a web site, build/docs/index.html; dead links are errors"
	@echo "make install   build, then install program, library, Python module, manual page: PREFIX=/usr/local DESTDIR="
	@echo "make uninstall remove what make install has put under PREFIX"
	@echo "make deb       build/lissom_VERSION_amd64.deb, to be installed with apt"
	@echo "make wheel     build/wheel/lissom-VERSION-*.whl, to be installed with pip (needs PyPI)"
	@echo "make schema    study keys changed: the reference page, the JSON Schema and the wrong studies made of it, anew"
	@echo "make format    clang-format all sources"

build: TARGET ?= lissom lissom_python
build:
	@scripts/install-packages build
	@cmake --preset release -DLISSOM_WERROR=$(WERROR) > build.log 2>&1 || { cat build.log; exit 1; }
	@rm -f build.log
	@cmake --build build -j$(JOBS) --target $(TARGET)

demo:
	@$(MAKE) --no-print-directory build TARGET=lissom
	build/lissom run examples/four-bar-slap/study.toml --out build/demo
	$(PYTHON) examples/four-bar-slap/plot.py build/demo
	@echo
	@echo "Meshed, reduced, simulated, trained: 4401 nodal coordinates and 24 constraints are now an ODE with six unknowns,"
	@echo "build/demo/model.rom.h5 (build/lissom simulate build/demo/model.rom.h5). The evidence, in build/demo:"
	@echo "  report.html                    open it in a browser: what was computed, how accurate, how much faster, and the"
	@echo "                                 mechanism moving, full and reduced; one file, to be sent to a colleague"
	@echo "  four-bar-slap-*.png            the figures of the paper; summary.json has everything in numbers"

test:
	@scripts/install-packages test
	@$(MAKE) --no-print-directory build TARGET=all
	@cd build && { ctest --output-on-failure -j$(JOBS) --output-junit tests.xml --test-output-size-passed 1000000; code=$$?; } && \
	  ../scripts/skipped-tests tests.xml && exit $$code
	@scripts/fuzz-corpus

quick:
	@scripts/install-packages test
	@scripts/quick $(if $(BASE),--base $(BASE))

sanitize:
	@scripts/install-packages test
	@scripts/sanitize

bench:
	@scripts/install-packages bench
	@$(MAKE) --no-print-directory build TARGET=all
	$(PYTHON) benchmarks/run.py --out build/bench.json

verify:
	@scripts/install-packages bench
	@$(MAKE) --no-print-directory build
	scripts/verify --lissom build/lissom --out build/verification

examples: build
	@for study in examples/*/study.toml; do \
	  name=$$(basename $$(dirname $$study)); \
	  build/lissom run $$study --out build/examples/$$name && $(PYTHON) examples/$$name/plot.py build/examples/$$name && \
	  PYTHONPATH=build/python $(PYTHON) -B examples/$$name/example.py || exit 1; \
	done

docs:
	@scripts/install-packages docs
	@scripts/check-links
	@scripts/build-docs

# as root for a prefix like /usr/local: `make build TARGET=lissom_package && sudo make install` builds as yourself
install:
	@$(MAKE) --no-print-directory build TARGET=lissom_package
	@scripts/install-build build "$(PREFIX)" "$(DESTDIR)"

uninstall:
	@scripts/uninstall "$(PREFIX)" "$(DESTDIR)"

deb:
	@scripts/install-packages package
	@$(MAKE) --no-print-directory build TARGET=lissom_package
	@cd build && cpack -G DEB

wheel:
	@scripts/install-packages package
	@scripts/build-wheel build/wheel

schema: build
	build/lissom schema --markdown > docs/reference/study-file.md
	build/lissom schema > docs/reference/study.schema.json
	scripts/make-wrong-studies.py

format:
	git ls-files '*.cpp' '*.hpp' '*.js' | xargs clang-format-14 -i

clean:
	rm -rf build build-dev build-sanitize
