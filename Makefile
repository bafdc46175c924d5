# Two commands do everything on a fresh machine: `make demo` and `make test`.
PRESET ?= release
BUILD = build/$(PRESET)
JOBS ?= $(shell nproc)
export NINJA_STATUS = [%f of %t, %e s] 

.PHONY: demo test build program configure setup bench asan format lint check-all install wheel wheels versions stacks

demo: program
	@$(BUILD)/bin/symprof profile models/bert_base.pt2 --optimizer adamw --by module --depth 3 \
	  --columns op,accumulate,param,fwd_flops,bwd_flops
	@echo 'Next, your own model (.pt2, .onnx or .pt): $(BUILD)/bin/symprof profile MODEL.pt2 --optimizer adamw'

test: build
	@ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

build: configure
	@cmake --build --preset $(PRESET) -j $(JOBS)

# What users run, without the tests. The commands that need no LibTorch (show, stats, engine, memory, …) are there first.
program: configure
	@cmake --build --preset $(PRESET) -j $(JOBS) --target symprof
	@cmake --build --preset $(PRESET) -j $(JOBS) --target symprof_torch

configure: setup
	@cmake --preset $(PRESET) $(CMAKE_FLAGS) >$(BUILD).configure.log 2>&1 || { cat $(BUILD).configure.log >&2; exit 1; }

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
	@./scripts/lint.sh

check-all: setup
	@./scripts/check_all.sh

# build/wheels/symprof-….whl out of the same build, tried in a clean environment.
wheel: program
	@./scripts/wheel.sh

# build/wheels/: for every version of torch and of Python, and for no torch (hours where nothing is cached; some GB for each torch).
wheels: setup
	@./scripts/wheels.sh

# The models' figures under every torch that `make wheels` found, beside that torch's own.
versions:
	@python3 scripts/versions.py

# docs/reference/stacks.md: about 150 training scripts of many packages, which it installs into build/stacks/ (several GB).
stacks: configure
	@cmake --build --preset $(PRESET) -j $(JOBS) --target symprof symprof_torch _native
	@SYMPROF_PYTHON=$(BUILD)/python .deps/python/bin/python truth/stacks/run.py

install: program
	@cmake --install $(BUILD) $(if $(PREFIX),--prefix $(PREFIX))
