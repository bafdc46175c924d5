"""Builds the GPU that computes nothing, an NCCL that only succeeds, and the environment in which PyTorch finds them."""
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
DEVICE_BYTES = 150_000_000_000
LIBRARIES = ("libtorch_cuda", "libc10_cuda", "libtorch_python", "libtorch_cuda_linalg")


def symbols(library, which, prefixes):
    lines = subprocess.check_output(["nm", "-D", f"--{which}-only", library], text=True).splitlines()
    return {name for line in lines if (name := line.split()[-1].split("@")[0]).startswith(prefixes)}


def stubs(names):
    return "".join(f'extern "C" int {name}() {{ return 0; }}\n' for name in sorted(names))


def make_fakes(torch_libraries, include, folder):
    def build(output, *sources):
        subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", "-shared", *sources, "-o", output, f"-I{include}"], check=True)

    prefixes = ("cuda", "cublas", "nccl")
    sources = [HERE / name for name in ("fake_gpu.cpp", "device.cpp", "nccl.cpp")]
    build(folder / "written.so", *sources)
    needed = set().union(*(symbols(torch_libraries / f"{name}.so", "undefined", prefixes) for name in LIBRARIES))
    (folder / "rest.cpp").write_text(stubs(needed - symbols(folder / "written.so", "defined", prefixes)))
    build(folder / "fake_gpu.so", folder / "rest.cpp", *sources)
    driver = symbols(torch_libraries / "libcaffe2_nvrtc.so", "undefined", ("cu",)) - {"cuDevicePrimaryCtxGetState"}
    active = 'extern "C" int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) { *flags = 0; *active = 1; return 0; }\n'
    (folder / "driver.cpp").write_text(stubs(driver | {"cuInit"}) + active)
    build(folder / "libcuda.so.1", folder / "driver.cpp", "-Wl,-soname,libcuda.so.1")
    # Expandable segments ask NVML for a fabric, and call a null pointer where there is no NVML: one GPU, not supported (3).
    nvml = ("nvmlInit", "nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetNvLinkRemoteDeviceType",
            "nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetComputeRunningProcesses", "nvmlSystemGetCudaDriverVersion_v2")
    (folder / "nvml.cpp").write_text(stubs(nvml) + 'extern "C" int nvmlDeviceGetGpuFabricInfoV(void*, void*) { return 3; }\n'
                                     'extern "C" int nvmlDeviceGetCount_v2(int* count) { *count = 1; return 0; }\n')
    build(folder / "libnvidia-ml.so.1", folder / "nvml.cpp", "-Wl,-soname,libnvidia-ml.so.1")


def environment(python, include, folder):
    where = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    torch_folder = subprocess.check_output([python, "-c", where], text=True).strip()
    make_fakes(pathlib.Path(torch_folder) / "lib", include, pathlib.Path(folder))
    return {**os.environ, "LD_PRELOAD": f"{folder}/fake_gpu.so", "LD_LIBRARY_PATH": ":".join([str(folder), *os.environ.get("LD_LIBRARY_PATH", "").split(":")]), "FAKE_DEVICE_BYTES": str(DEVICE_BYTES),
            "TORCH_CUDNN_SDPA_DEPRIORITIZED": "1", "PYTORCH_NVML_BASED_CUDA_CHECK": "1", "TORCH_NCCL_DUMP_ON_TIMEOUT": "0",
            "TORCH_NCCL_ENABLE_MONITORING": "0", "OMP_NUM_THREADS": "1"}
