#!/bin/sh
# Builds cupti_probe beside a PyTorch with CUDA and a CUDA toolkit.
# usage: cupti_probe.sh OUTPUT_BINARY [TORCH_FOLDER] [CUDA_FOLDER]
# TORCH_FOLDER is the installed package `torch` (default: the one `python3` imports);
# CUDA_FOLDER is a toolkit of CUDA 13 with CUPTI (default: $CUDA_HOME or /usr/local/cuda).
set -eu
if [ $# -lt 1 ]; then
  sed -n '2,5p' "$0" >&2
  exit 2
fi
binary=$1
torch=${2:-$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__))')}
cuda=${3:-${CUDA_HOME:-/usr/local/cuda}}
source=$(dirname "$0")/cupti_probe.cpp
wheels=$torch/../nvidia
# CUPTI is in the toolkit's include/ or extras/CUPTI/include, or among PyTorch's wheels. The wheels'
# own libraries come first at run time: PyTorch has that copy of CUPTI loaded already.
${CXX:-g++} -std=c++20 -O1 -D_GLIBCXX_USE_CXX11_ABI=1 -DFMT_HEADER_ONLY "$source" -o "$binary" \
  -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
  -isystem "$cuda/include" -isystem "$cuda/extras/CUPTI/include" \
  -isystem "$wheels/cu13/include" \
  -L"$torch/lib" -L"$cuda/lib64" -L"$cuda/extras/CUPTI/lib64" -L"$wheels/cu13/lib" \
  -Wl,--no-as-needed -ltorch -ltorch_cuda -ltorch_cpu -lc10_cuda -lc10 -l:libcupti.so.13 -Wl,--as-needed \
  -Wl,--unresolved-symbols=ignore-in-shared-libs \
  -Wl,-rpath,"$torch/lib" -Wl,-rpath,"$wheels/cu13/lib" -Wl,-rpath,"$wheels/cudnn/lib" \
  -Wl,-rpath,"$cuda/lib64" -Wl,-rpath,"$cuda/extras/CUPTI/lib64"
echo "$binary"
