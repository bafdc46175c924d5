#!/usr/bin/env bash
# Builds the benchmarks, installs the Python packages of the comparison into .deps/models-python (large;
# skip with SYMPROF_NO_PYTHON=1), and prints the table of benchmarks/README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset bench >/dev/null
cmake --build --preset bench
python=()
if [ -z "${SYMPROF_NO_PYTHON:-}" ]; then
  venv=.deps/models-python
  if [ ! -f "$venv/done" ]; then
    /usr/bin/python3 -m venv "$venv"
    grep -v '^torchvision' requirements-models.txt >"$venv/requirements.txt"
    "$venv/bin/pip" install -q -r "$venv/requirements.txt"
    "$venv/bin/pip" install -q --no-deps "$(grep '^torchvision' requirements-models.txt)"
    touch "$venv/done"
  fi
  python=(--python "$venv/bin/python")
fi
python3 benchmarks/compare.py build/bench "${python[@]}" "$@"
