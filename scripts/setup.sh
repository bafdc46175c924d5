#!/usr/bin/env bash
# Installs what a build needs on Debian 12: packages, LibTorch from the `torch` wheel, CUPTI's
# headers from NVIDIA's wheels, and onnx built from its source distribution. Everything but the Debian packages goes to .deps/.
# A second run finds it all in place and takes a second.
#
#   SYMPROF_TORCH=DIR   use the LibTorch in DIR (it holds include/ and lib/) instead of the wheel
set -euo pipefail
cd "$(dirname "$0")/.."

torch_version=2.13.0
onnx_version=1.23.2
# Headers of CUPTI and what they include; its library comes with PyTorch's CUDA build.
cupti_headers=(nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88)
packages=(
  ca-certificates g++ cmake ninja-build make ccache mold git pkg-config python3 python3-dev python3-venv python3-pip
  libprotobuf-dev protobuf-compiler libfmt-dev librange-v3-dev libboost-dev libutf8proc-dev
  libsimdjson-dev libzip-dev zlib1g-dev nlohmann-json3-dev libcli11-dev doctest-dev libbenchmark-dev clang-format clang-tidy
)
deps=$PWD/.deps
mkdir -p "$deps"

say() { printf '\033[1m[setup]\033[0m %s\n' "$*" >&2; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  local missing=()
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  say "Debian packages: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$deps/apt.log" 2>&1 ||
    { tail -n 20 "$deps/apt.log" >&2; say "apt-get failed; the whole log is .deps/apt.log"; exit 3; }
}

make_python() {
  [ -x "$deps/python/bin/pip" ] || /usr/bin/python3 -m venv "$deps/python"
}

# The build only needs the wheel's headers and libraries, so its Python dependencies are left out.
# A CUDA wheel's libtorch_cpu.so does not load without them: those are installed when it is one.
install_torch() {
  if [ -n "${SYMPROF_TORCH:-}" ]; then
    [ -f "$SYMPROF_TORCH/share/cmake/Torch/TorchConfig.cmake" ] ||
      { say "SYMPROF_TORCH=$SYMPROF_TORCH holds no share/cmake/Torch/TorchConfig.cmake"; exit 2; }
    ln -sfn "$(realpath "$SYMPROF_TORCH")" "$deps/torch"
    return
  fi
  local site
  site=$("$deps/python/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  if [ ! -f "$deps/torch-$torch_version.done" ]; then
    say "LibTorch $torch_version (wheel, about 200 MB)"
    "$deps/python/bin/pip" install -q --disable-pip-version-check --no-deps "torch==$torch_version"
    if [ -f "$site/torch/lib/libtorch_cuda.so" ]; then
      say "the index gave a CUDA build: installing the CUDA libraries that it loads (several GB)"
      "$deps/python/bin/pip" install -q --disable-pip-version-check "torch==$torch_version"
    fi
    touch "$deps/torch-$torch_version.done"
  fi
  ln -sfn "$site/torch" "$deps/torch"
}

# For the Python package: what its build needs, and what torch needs to be imported.
install_python_packages() {
  local done=$deps/requirements-python.txt
  cmp -s requirements-python.txt "$done" && return
  "$deps/python/bin/pip" install -q --disable-pip-version-check --no-deps -r requirements-python.txt
  cp requirements-python.txt "$done"
}

install_cupti_headers() {
  [ -f "$deps/cuda/cupti_activity.h" ] && return
  say "headers of CUPTI (wheels, about 13 MB)"
  local unpacked=$deps/cuda-wheels
  "$deps/python/bin/pip" install -q --disable-pip-version-check --no-deps --no-compile --upgrade --target "$unpacked" "${cupti_headers[@]}"
  rm -rf "$deps/cuda"
  mv "$unpacked/nvidia/cu13/include" "$deps/cuda"
  rm -rf "$unpacked"
}

# onnx 1.23.2 asks for CMake 3.26 and needs nothing newer than Debian's 3.25.
install_onnx() {
  local prefix=$deps/onnx-$onnx_version source=$deps/src/onnx-$onnx_version
  [ -f "$prefix/lib/libonnx.a" ] && return
  say "onnx $onnx_version (source distribution; builds for some minutes, once)"
  mkdir -p "$deps/src"
  "$deps/python/bin/pip" download -q --disable-pip-version-check --no-deps --no-build-isolation --no-binary onnx \
    "onnx==$onnx_version" -d "$deps/src" >"$deps/onnx.log" 2>&1 ||
    "$deps/python/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary onnx \
      "onnx==$onnx_version" -d "$deps/src" >"$deps/onnx.log" 2>&1 || { tail "$deps/onnx.log" >&2; exit 3; }
  tar xzf "$deps/src/onnx-$onnx_version.tar.gz" -C "$deps/src"
  sed -i 's/VERSION 3.26)/VERSION 3.25)/' "$source/CMakeLists.txt"
  # Its tables of operators take half as long to compile at -O1, and are filled once.
  cmake -S "$source" -B "$deps/src/onnx-build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DONNX_ML=ON -DONNX_NAMESPACE=onnx -DONNX_BUILD_PYTHON=OFF \
    -DONNX_USE_PROTOBUF_SHARED_LIBS=ON -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DFETCHCONTENT_FULLY_DISCONNECTED=ON -DCMAKE_INSTALL_PREFIX="$prefix" >"$deps/onnx.log" 2>&1
  ninja -C "$deps/src/onnx-build" install >>"$deps/onnx.log" 2>&1 || { tail -n 30 "$deps/onnx.log" >&2; exit 3; }
  rm -rf "$deps/src"
}

# The wheel carries old protobuf and new fmt headers; these links put Debian's first.
link_headers() {
  mkdir -p "$deps/first"
  ln -sfn /usr/include/google "$deps/first/google"
  ln -sfn /usr/include/fmt "$deps/first/fmt"
}

install_packages
make_python
install_torch
install_python_packages
install_cupti_headers
install_onnx
link_headers
