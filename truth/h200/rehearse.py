#!/usr/bin/env python3
"""Runs record_memory.py's CUDA lines without a GPU, and checks what they recorded.

Usage: rehearse.py PYTHON CUDA_INCLUDE FOLDER [options of record_memory.py]

PYTHON has a CUDA build of PyTorch (2.11.0 from PyPI); CUDA_INCLUDE holds cuda_runtime_api.h of the
same CUDA. The allocator is PyTorch's own, kernels do nothing, so traces and sizes of buffers are
real and values are not. There is no cuDNN: models with convolutions fail, attention goes to flash.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LIBRARIES = ("libtorch_cuda", "libc10_cuda", "libtorch_python", "libtorch_cuda_linalg")
DEVICE_BYTES = 150_000_000_000


def symbols(library, which, prefixes):
    lines = subprocess.check_output(["nm", "-D", f"--{which}-only", library], text=True).splitlines()
    names = {line.split()[-1].split("@")[0] for line in lines}
    return {name for name in names if name.startswith(prefixes)}


def compile_library(source, output, *options):
    subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", source, "-o", output, *options], check=True)


def stubs(names):
    return "".join(f'extern "C" int {name}() {{ return 0; }}\n' for name in sorted(names))


def make_fakes(torch_libraries, include, folder):
    """fake_gpu.so to load before everything, libcuda.so.1 in place of the driver's."""
    written = folder / "written.so"
    compile_library(HERE / "fake_gpu.cpp", written, f"-I{include}")
    needed = set().union(*(symbols(torch_libraries / f"{name}.so", "undefined", ("cuda", "cublas"))
                           for name in LIBRARIES))
    (folder / "rest.cpp").write_text(stubs(needed - symbols(written, "defined", ("cuda", "cublas"))))
    compile_library(folder / "rest.cpp", folder / "fake_gpu.so", f"-I{include}", HERE / "fake_gpu.cpp")
    driver = symbols(torch_libraries / "libcaffe2_nvrtc.so", "undefined", ("cu",)) - {"cuDevicePrimaryCtxGetState"}
    active = 'extern "C" int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {' \
        " *flags = 0; *active = 1; return 0; }\n"
    (folder / "driver.cpp").write_text(stubs(driver | {"cuInit"}) + active)
    compile_library(folder / "driver.cpp", folder / "libcuda.so.1", "-Wl,-soname,libcuda.so.1")


def environment_on_fake_gpu(python, include, folder, preloaded=(), **variables):
    """In which `python` finds the fake GPU, whose libraries are made in `folder`; `preloaded` ones come first."""
    where = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    torch_folder = subprocess.check_output([python, "-c", where], text=True).strip()
    make_fakes(pathlib.Path(torch_folder) / "lib", include, pathlib.Path(folder))
    libraries = [*preloaded, f"{folder}/fake_gpu.so"]
    return {**os.environ, "LD_PRELOAD": " ".join(map(str, libraries)), "LD_LIBRARY_PATH": str(folder),
            "FAKE_DEVICE_BYTES": str(DEVICE_BYTES), **variables}


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    python, include, out, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_on_fake_gpu(python, include, folder, TORCH_CUDNN_SDPA_DEPRIORITIZED="1")
        command = [python, str(HERE / "record_memory.py"), "--device", "cuda", "--out", out, *options]
        subprocess.run(command, env=environment)
    sys.exit(subprocess.run([sys.executable, str(HERE / "check_memory.py"), out]).returncode)


if __name__ == "__main__":
    main()
