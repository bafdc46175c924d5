#!/usr/bin/env python3
"""Builds a GPU that computes nothing, writes its launches down and has a CUPTI; runs a command on it.

Usage: fakes.py TORCH CUDA_INCLUDE FOLDER [COMMAND ...]

TORCH is the folder of PyTorch's CUDA build of 2.13.0 (pip install --no-deps torch===2.13.0: with
three equal signs, as a local CPU build satisfies two); no other package of NVIDIA's is needed, and
where they are installed they win over the fakes. CUDA_INCLUDE holds cuda_runtime_api.h and cupti.h
of CUDA 13. Without a command it prints the environment.

The environment understands FAKE_LAUNCH_LOG (a file: a line for each launch, copy and fill),
FAKE_FIRST_CORRELATION (of CUPTI's ids), FAKE_CUPTI_DROP_EVERY (each n-th record is lost) and
FAKE_CUPTI_REFUSES (CUPTI may not record; CUDA's events have the made-up times all the same).
"""
import argparse
import itertools
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "h200"))
import rehearse  # noqa: E402

DEVICE_BYTES = 1 << 50
OF_NVIDIA = re.compile(r"lib(cu(?!rl)|nccl|nv)")
PREFIXES = ("cublas", "cudnn", "cusparse", "cufft", "curand", "cusolver", "nccl", "nvrtc", "cufile", "cuFile",
            "nvshmem", "cupti", "__cuda")
# Functions that run kernels, by library: of all others only those that ask and set.
RUNS_KERNELS = re.compile(
    r"cublas(?!Create|Destroy|Set|Get|Lt)|cublasLtMatmul$|cudnnBackendExecute$|"
    r"cudnn(?!Get|Set|Create|Destroy|Find|Backend|Restore|Query|Dropout).*(Forward|Backward|CTCLoss)|"
    r"cusparse(?!Create|Destroy|Set|Get|Lt).*(SpM|SDDMM$|_solve|_compute)|cufftXtExec|"
    r"cusolverDn(?!Create|Destroy|Set|Get)(?!.*_bufferSize)|curandGenerate|nccl(All|Broad|Red|Send|Recv)")
# (handle, operation of a, operation of b, m, n, k, …)
PRODUCT = re.compile(r"cublas(GemmEx|GemmStridedBatchedEx|[SDCZ]gemm_v2|[SDCZ]gemmStridedBatched|SgemmEx)$")


def read(*command):
    return subprocess.check_output([str(part) for part in command], text=True)


def needed(library):
    return re.findall(r"\(NEEDED\).*\[(.+)\]", read("readelf", "-d", library))


def version_nodes(library, name):
    """What `library` asks of the library `name`: the loader wants a node of that name there."""
    for part in read("readelf", "-VW", library).split("Version: ")[1:]:
        if re.search(rf"File: {re.escape(name)}\s", part):
            yield from re.findall(r"Name: (\S+)", part)


def compile_library(output, *arguments):
    subprocess.run(["g++", "-std=c++20", "-O1", "-w", "-fPIC", "-shared", "-o", str(output), *map(str, arguments)],
                   check=True)


def library_calls(names):
    text = '#include "operations.h"\nextern "C" {\n'
    for name in sorted(names):
        arguments, body = "", "return 0;"
        if PRODUCT.match(name):
            arguments, body = "void*, int, int, int m, int n, int k", f'return fake::run_library_call("{name}", m, n, k);'
        elif RUNS_KERNELS.match(name):
            body = f'return fake::run_library_call("{name}");'
        text += f"int {name}({arguments}) {{ {body} }}\n"
    return text + "}\n"


def empty_library(folder, name, libraries, launches):
    """A library that is not installed, by its name; its functions lie in `launches`."""
    nodes = sorted({node for library in libraries for node in version_nodes(library, name)} or {name})
    script = folder / "versions"
    script.write_text(f"{nodes[0]} {{ global: *; }};\n" + "".join(f"{node} {{}};\n" for node in nodes[1:]))
    compile_library(folder / name, folder / "empty.cpp", "-Wl,--no-as-needed", launches, f"-Wl,-soname,{name}",
                    f"-Wl,--version-script={script}", "-Wl,-rpath,$ORIGIN")


def driver_that_succeeds(folder):
    """rehearse.py's driver without what driver.cpp answers."""
    answered = set(re.findall(r"^int (cu\w+)\(", (HERE / "driver.cpp").read_text(), re.M))
    lines = (folder / "driver.cpp").read_text().splitlines()
    kept = [line for line in lines if not answered & set(re.findall(r"\bcu\w+(?=\()", line))]
    (folder / "driver_rest.cpp").write_text("\n".join(kept) + "\n")
    return folder / "driver_rest.cpp"


def build(torch, include, folder):
    """The environment in which a program finds them all."""
    folder.mkdir(parents=True, exist_ok=True)
    libraries = sorted((torch / "lib").glob("lib*.so"))
    rehearse.make_fakes(torch / "lib", include, folder)
    sources = [HERE / name for name in ("operations.cpp", "runtime.cpp", "cupti.cpp", "libraries.cpp")]
    flags = [f"-I{include}", f"-I{HERE}"]
    compile_library(folder / "ours.so", *flags, *sources)
    answered = rehearse.symbols(folder / "ours.so", "defined", PREFIXES) | \
        rehearse.symbols(folder / "written.so", "defined", PREFIXES)
    wanted = set().union(*(rehearse.symbols(library, "undefined", PREFIXES) for library in libraries))
    (folder / "rest_of_libraries.cpp").write_text(library_calls(wanted - answered))
    launches = folder / "launches.so"
    compile_library(launches, *flags, *sources, folder / "rest_of_libraries.cpp", "-Wl,-soname,launches.so")
    (folder / "empty.cpp").write_text("")
    missing = {name for library in libraries for name in needed(library) if OF_NVIDIA.match(name)}
    for name in missing - {library.name for library in libraries} - {"libcuda.so.1"}:
        empty_library(folder, name, libraries, launches)
    compile_library(folder / "libcuda.so.1", *flags, HERE / "driver.cpp", driver_that_succeeds(folder), launches,
                    "-Wl,-soname,libcuda.so.1", "-Wl,-rpath,$ORIGIN")
    compile_library(folder / "libnvidia-ml.so.1", HERE / "nvml.cpp", "-Wl,-soname,libnvidia-ml.so.1")
    calls = folder / "calls.so"
    compile_library(calls, *flags, f"-I{torch}/include", HERE / "calls.cpp", launches, f"-L{torch}/lib", "-ltorch_cpu",
                    "-lc10", f"-Wl,-rpath,{torch}/lib", "-Wl,--unresolved-symbols=ignore-all")
    return {"LD_PRELOAD": f"{launches} {folder}/fake_gpu.so {calls}",
            # A program that was built with the CPU build of the same version runs on TORCH here, too.
            "LD_LIBRARY_PATH": f"{folder}:{torch / 'lib'}",
            "FAKE_DEVICE_BYTES": str(DEVICE_BYTES),
            # cuDNN's attention ends in its front end, which finds no plan.
            "TORCH_CUDNN_SDPA_DEPRIORITIZED": "1"}


def environment(torch, include, folder):
    """As build(), once for a folder."""
    folder = pathlib.Path(folder).resolve()
    kept = folder / "environment"
    if not kept.exists():
        made = build(pathlib.Path(torch).resolve(), include, folder)
        kept.write_text("".join(f"{key}={value}\n" for key, value in made.items()))
    return dict(line.split("=", 1) for line in kept.read_text().splitlines())


def environment_of(python, include, folder):
    """In which `python`, with a CUDA build of PyTorch, finds this GPU: environment() beside what is set already."""
    where = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    torch = subprocess.check_output([python, "-c", where], text=True).strip()
    return {**os.environ, **environment(torch, include, pathlib.Path(folder) / "fakes"), "PYTORCH_NVML_BASED_CUDA_CHECK": "1"}


def argument_parser(doc, program):
    """Of a script that runs `program` on this GPU: `doc` is the script's own."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(program, type=os.path.abspath)
    parser.add_argument("--torch", required=True)
    parser.add_argument("--cuda", required=True)
    parser.add_argument("--fakes", help="a folder that keeps what is built")
    return parser


def variables_of(options, folder):
    """The environment for what argument_parser() was given; built in `folder` where nothing else is asked."""
    return environment(options.torch, options.cuda, options.fakes or folder)


def parts_of(log):
    """The lines of the log between two times that a program took its records; and those after the last."""
    return [list(group) for is_flush, group in itertools.groupby(log.splitlines(), "flush".__eq__) if not is_flush]


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    torch, include, folder, *command = sys.argv[1:]
    variables = environment(torch, include, folder)
    if not command:
        print("\n".join(f"export {key}='{value}'" for key, value in variables.items()))
        return 0
    return subprocess.run(command, env={**os.environ, **variables}).returncode


if __name__ == "__main__":
    sys.exit(main())
