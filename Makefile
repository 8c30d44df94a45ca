# Everything that a newcomer needs; `make help` lists it. Each target does its own set-up.
PYTHON := /usr/bin/python3
JOBS := $(shell nproc)

.PHONY: help build demo test bench examples format clean

help:
	@echo "make demo      build, then mesh a connecting rod and reduce it to a proven accuracy, with figures"
	@echo "make test      build, then run every test"
	@echo "make bench     build, then measure; writes build/bench.json (takes some minutes)"
	@echo "make examples  run every example folder as shipped"
	@echo "make format    clang-format all sources"

build: TARGET ?= lissom
build:
	@scripts/install-packages build
	@cmake --preset release > build.log 2>&1 || { cat build.log; exit 1; }
	@rm -f build.log
	@cmake --build build -j$(JOBS) --target $(TARGET)

demo: build
	build/lissom run examples/connecting-rod/study.toml --out build/demo
	$(PYTHON) examples/connecting-rod/plot.py build/demo
	@echo
	@echo "look at  build/demo/rod-counts.png           coordinates that each way of choosing modes needs"
	@echo "         build/demo/rod-errors.png           estimated, proven and exact error of each mode"
	@echo "         build/demo/rod_free_modes/modes.pvd the mode shapes, for ParaView"
	@echo "         build/demo/rod.reduced.h5           the reduced body (docs/reference/reduced-body-file.md)"

test:
	@scripts/install-packages test
	@$(MAKE) --no-print-directory build TARGET=all
	cd build && ctest --output-on-failure -j$(JOBS)
	@scripts/fuzz-corpus

bench:
	@scripts/install-packages bench
	@$(MAKE) --no-print-directory build TARGET=all
	$(PYTHON) benchmarks/run.py --out build/bench.json

examples: build
	@for study in examples/*/study.toml; do \
	  name=$$(basename $$(dirname $$study)); \
	  build/lissom run $$study --out build/examples/$$name && $(PYTHON) examples/$$name/plot.py build/examples/$$name || exit 1; \
	done

format:
	git ls-files '*.cpp' '*.hpp' | xargs clang-format-14 -i

clean:
	rm -rf build build-dev build-sanitize
