"""Compiles and loads fake_cuda.cpp, which must happen before torch is imported."""
import ctypes
import hashlib
import importlib.util
import pathlib
import subprocess
import tempfile

LIBRARIES = ("libtorch_global_deps.so", "libc10.so", "libtorch_cpu.so", "libtorch_cuda.so")  # The first brings NVIDIA's.
SOURCE = pathlib.Path(__file__).with_name("fake_cuda.cpp")


def load():
    """Returns a function that forces an attention backend: 0 math, -1 what an H200 would take."""
    torch_root = pathlib.Path(importlib.util.find_spec("torch").origin).parent
    key = hashlib.sha256(SOURCE.read_bytes() + str(torch_root).encode()).hexdigest()[:16]
    library = pathlib.Path(tempfile.gettempdir()) / f"fake_cuda_{key}.so"
    if not library.exists():
        compile_to(library, torch_root)
    for name in LIBRARIES:
        if (torch_root / "lib" / name).exists():
            ctypes.CDLL(str(torch_root / "lib" / name), mode=ctypes.RTLD_GLOBAL)
    loaded = ctypes.CDLL(str(library))
    loaded.fake_cuda_install()
    loaded.fake_cuda_force_attention.argtypes = [ctypes.c_int64]
    return loaded.fake_cuda_force_attention


def compile_to(library, torch_root):
    with tempfile.TemporaryDirectory() as folder:
        built = pathlib.Path(folder) / library.name
        command = ["g++", "-O1", "-std=c++20", "-shared", "-fPIC", f"-I{torch_root}/include"]
        command += [str(SOURCE), "-o", str(built), f"-L{torch_root}/lib", "-lc10", "-ltorch_cpu"]
        subprocess.run(command + [f"-Wl,-rpath,{torch_root}/lib"], check=True)
        built.replace(library)
