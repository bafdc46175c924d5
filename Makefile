# Two commands do everything on a fresh machine: `make demo` and `make test`.
PRESET ?= release
BUILD = build/$(PRESET)
JOBS ?= $(shell nproc)

.PHONY: demo test build setup bench asan format lint install

demo: build
	@$(BUILD)/bin/symprof profile models/vit_b_16.pt2 --by module

test: build
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

build: setup
	@cmake --preset $(PRESET) $(CMAKE_FLAGS) >$(BUILD).configure.log 2>&1 || { cat $(BUILD).configure.log >&2; exit 1; }
	@cmake --build --preset $(PRESET) -j $(JOBS)

setup:
	@mkdir -p build
	@./scripts/setup.sh

asan:
	@$(MAKE) test PRESET=asan

bench: setup
	@./benchmarks/run.sh

format:
	@git ls-files '*.cpp' '*.h' | xargs clang-format -i

lint: build
	@./scripts/lint.sh $(BUILD)

install: build
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))
