#!/usr/bin/env python3
"""What an installed wheel does where there is no torch (scripts/wheel.sh runs it in a clean environment).

Usage: try_wheel_without_torch.py MODEL.pt2     MODEL.onnx lies beside it"""
import pathlib
import subprocess
import sys

PROGRAM = pathlib.Path(sys.prefix) / "bin/symprof"


def run(*command):
    return subprocess.run(command, check=False, capture_output=True, text=True)


def works(*words):
    done = run(PROGRAM, *words)
    assert done.returncode == 0, f"symprof {' '.join(map(str, words))}: {done.stderr}"
    return done.stdout


def refused(*command):
    done = run(*command)
    assert done.returncode != 0, command
    return done.stderr


def main():
    model = pathlib.Path(sys.argv[1])
    onnx = model.with_suffix(".onnx")
    assert "h200" in works("devices")
    assert "Gemm" in works("stats", onnx)
    assert "linear" in works("show", model)
    works("optimize", onnx, "-o", "/dev/null")
    assert "symprof was installed without its part for torch" in refused(PROGRAM, "profile", model)
    assert "torch: is not installed" in refused(sys.executable, "-c", "import symprof")
    assert "torch: is not installed" in refused(PROGRAM, "run", "script.py")


if __name__ == "__main__":
    main()
