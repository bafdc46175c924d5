#!/usr/bin/env bash
# Format and clang-tidy. Files that include LibTorch take clang-tidy a minute each, so only the others are checked, a folder's
# files together, as they are compiled: twelve take a sixth of the time that they take alone. What was checked before is not
# checked again (tidy_as_compiler.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t sources < <(git ls-files '*.cpp' '*.h')
clang-format --dry-run --Werror "${sources[@]}"
echo "format: ${#sources[@]} files"

cmake --preset release -B build/lint -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DSYMPROF_TESTS=OFF -DSYMPROF_PYTHON=OFF >build/lint.configure.log 2>&1
mapfile -t objects < <(ninja -C build/lint -t targets all | sed -nE 's#^(CMakeFiles/symprof_(core|light|cli)\.dir/.*\.o): .*#\1#p')
# A log shows the remarks alone, a terminal how far it is, too.
quiet=(); [ -t 1 ] || quiet=(--quiet)
command -v ccache >/dev/null || { echo "lint: no ccache, which calls clang-tidy here; make setup installs it" >&2; exit 1; }
CCACHE_COMPILER=$PWD/scripts/tidy_as_compiler.sh CCACHE_COMPILERTYPE=gcc CCACHE_COMPILERCHECK=content \
  CCACHE_EXTRAFILES=$PWD/.clang-tidy:$(realpath "$(command -v clang-tidy)") ninja -C build/lint -k 0 "${quiet[@]}" "${objects[@]}"
echo "clang-tidy: ${#objects[@]} groups of files"
