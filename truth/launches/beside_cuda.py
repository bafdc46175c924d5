#!/usr/bin/env python3
"""Runs tests/python/test_cuda_build.py beside PyTorch's CUDA build, on a GPU that computes nothing and without one.

Usage: beside_cuda.py PYTHON CUDA_INCLUDE

PYTHON has PyTorch's CUDA build, and the package symprof (in PYTHONPATH). Exit 1 where a test fails."""
import os
import pathlib
import subprocess
import sys
import tempfile

import fakes

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent.parent / "tests/python/test_cuda_build.py"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    python, include = sys.argv[1:]
    torch = subprocess.check_output(
        [python, "-c", "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"], text=True).strip()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        fake = fakes.environment(torch, include, folder)
        fake["LD_LIBRARY_PATH"] = ":".join(filter(None, (fake["LD_LIBRARY_PATH"], os.environ.get("LD_LIBRARY_PATH"))))
        without = pathlib.Path(folder) / "no_gpu.so"
        fakes.compile_library(without, HERE / "no_gpu.cpp")
        for name, preload in {"a GPU": fake["LD_PRELOAD"], "no GPU": f"{without} {fake['LD_PRELOAD']}"}.items():
            print(f"{name}:", flush=True)
            done = subprocess.run([python, TESTS], env={**os.environ, **fake, "LD_PRELOAD": preload})
            failed |= done.returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
