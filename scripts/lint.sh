#!/usr/bin/env bash
# Format and clang-tidy. Files that include LibTorch take clang-tidy a minute each, so only the others
# are checked. Usage: scripts/lint.sh BUILD_FOLDER (it holds compile_commands.json).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/lint.sh BUILD_FOLDER}

mapfile -t sources < <(git ls-files '*.cpp' '*.h')
clang-format --dry-run --Werror "${sources[@]}"
echo "format: ${#sources[@]} files"

mapfile -t cheap < <(git ls-files 'base/*.cpp' 'record/*.cpp' 'trace/*.cpp' 'profile/*.cpp' 'plan/*.cpp' 'session/*.cpp' \
  'report/*.cpp' | grep -vE '^trace/(torchscript|onnx)/')
printf '%s\n' "${cheap[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p "$build" --quiet --warnings-as-errors='*' 2>/dev/null
echo "clang-tidy: ${#cheap[@]} files"
