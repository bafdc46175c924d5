#!/usr/bin/env bash
# Format and clang-tidy. Files that include LibTorch take clang-tidy a minute each, so only the others
# are checked.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t sources < <(git ls-files '*.cpp' '*.h')
clang-format --dry-run --Werror "${sources[@]}"
echo "format: ${#sources[@]} files"

# Files that are compiled together have no command of their own: a build folder that is never built has one for each.
cmake --preset release -B build/lint -DSYMPROF_UNITY=OFF -DSYMPROF_TESTS=OFF -DSYMPROF_PYTHON=OFF >build/lint.configure.log 2>&1
mapfile -t cheap < <(git ls-files 'base/*.cpp' 'record/*.cpp' 'trace/*.cpp' 'engine/*.cpp' 'profile/*.cpp' 'measure/*.cpp' 'plan/*.cpp' \
  'session/*.cpp' 'report/*.cpp' | grep -vE '^(trace/(torchscript|onnx)|measure/real)/')
printf '%s\n' "${cheap[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p build/lint --quiet --warnings-as-errors='*' 2>/dev/null
echo "clang-tidy: ${#cheap[@]} files"
