"""Holds the simulated allocator against PyTorch's own, which runs here on a fake CUDA runtime.

    python3 truth/allocator/run.py SYMPROF [--version 2.11.0 | --torch DIR --cuda DIR] [--rewrite]

SYMPROF is the built program. DIR of --torch is the `torch` folder of a CUDA wheel (pip download
--no-deps torch==2.13.0, unpacked); --cuda is a folder with cuda_runtime_api.h. Without them the wheels
are downloaded. Compares what the real allocator prints with random_2.13.csv or that of the other version,
and, from 2.13 on, its peaks over the recorded steps of the shipped models with steps.csv, or rewrites the
files. The tests replay them on the simulated allocator.
"""
import argparse
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODELS = ["vit_b_16", "resnet50", "gpt2", "bert_base", "llama_7b"]
OPTIMIZER = "adamw"
CUDA_RUNTIME = "nvidia-cuda-runtime==13.0.96"


def modes():
    """(name, settings, device bytes) of modes.h."""
    text = (HERE / "modes.h").read_text()
    sizes = {name: value.replace("'", "") for name, value in
             re.findall(r"(\w+_bytes) = ([\d']+)", text)}
    for name, settings, size in re.findall(
            r'AllocatorMode\{\s*"(\w+)",\s*((?:"[^"]*"\s*)+),\s*(\w+)', text):
        yield name, "".join(re.findall(r'"([^"]*)"', settings)), sizes[size]


def download(folder, version):
    """The wheels' torch folder and the folder of CUDA's headers."""
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder,
                    f"torch==={version}", CUDA_RUNTIME], check=True)
    header = next(pathlib.Path(folder).rglob("cuda_runtime_api.h"))
    return pathlib.Path(folder) / "torch", header.parent


def build(folder, torch, cuda):
    """Compiles the fake libraries and the program that drives the real allocator."""
    runtime = folder / "libcudart.so.13"
    script = folder / "cudart.map"
    script.write_text("libcudart.so.13 { global: *; };\n")
    compile_ = ["c++", "-std=c++20", "-O2", "-w", f"-I{cuda}"]
    subprocess.run([*compile_, "-shared", "-fPIC", HERE / "fake_cudart.cpp", "-o", runtime,
                    "-Wl,-soname,libcudart.so.13", f"-Wl,--version-script={script}"], check=True)
    nvml = "libnvidia-ml.so.1"
    subprocess.run([*compile_, "-shared", "-fPIC", HERE / "fake_nvml.cpp", "-o", folder / nvml,
                    f"-Wl,-soname,{nvml}"], check=True)
    program = folder / "real_allocator"
    subprocess.run([*compile_, f"-I{torch}/include", HERE / "real_allocator.cpp", "-o", program,
                    f"-L{torch}/lib", "-lc10_cuda", "-lc10", runtime, f"-Wl,-rpath,{torch}/lib",
                    f"-Wl,-rpath,{folder}", "-Wl,--allow-shlib-undefined"], check=True)
    return program, runtime


def run(program, runtime, mode, trace=None):
    """What the real allocator prints for one mode."""
    name, settings, device_bytes = mode
    environment = dict(os.environ, FAKE_DEVICE_BYTES=device_bytes, PYTORCH_ALLOC_CONF=settings,
                       LD_PRELOAD=str(runtime), LD_LIBRARY_PATH=str(runtime.parent))
    environment.pop("PYTORCH_CUDA_ALLOC_CONF", None)
    return subprocess.run([program, name, *([trace] if trace else [])], env=environment, check=True,
                          capture_output=True, text=True).stdout


def write_trace(symprof, model, settings, path):
    """What the recorded loop of a model asks of the allocator: "a ID BYTES" and "f ID". The loop runs until a step
    raises neither peak, which depends on the settings."""
    snapshot = path.with_suffix(".pickle")
    subprocess.run([symprof, "profile", ROOT / "models" / f"{model}.pt2", "--optimizer", OPTIMIZER,
                    "--alloc-conf", settings, "--format", "memory-snapshot", "-o", snapshot], check=True)
    ids = {}
    with path.open("w") as file:
        entries = pickle.loads(snapshot.read_bytes())["device_traces"][0]
        for number, entry in enumerate(entries):
            if entry["action"] == "alloc":
                ids[entry["addr"]] = number
                file.write(f"a {number} {entry['size']}\n")
            elif entry["action"] == "free_completed":
                file.write(f"f {ids.pop(entry['addr'])}\n")


def step_lines(symprof, program, runtime, folder):
    """model, settings, peak of allocated and of reserved bytes, for settings without a limit."""
    lines = []
    for model in MODELS:
        trace = folder / f"{model}.txt"
        for name, settings, device_bytes in modes():
            if "fraction" in settings or not device_bytes.startswith("150"):
                continue
            write_trace(symprof, model, settings, trace)
            fields = run(program, runtime, (name, settings, device_bytes), trace).split(",")
            lines.append(f"{model};{settings};{fields[4]};{fields[5]}\n")
    return "".join(lines)


def version_of(torch):
    """"2.13" """
    return re.search(r"__version__ = '(\d+\.\d+)", (torch / "version.py").read_text())[1]


def compare(path, text, rewrite):
    """True where the file says the same, or was rewritten."""
    if rewrite:
        path.write_text(text)
        return True
    same = path.read_text() == text
    print(f"{path.name}: {'no difference' if same else 'DIFFERENT'} in {text.count(chr(10))} lines")
    return same


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("symprof", type=pathlib.Path)
    parser.add_argument("--version", default="2.13.0")
    parser.add_argument("--torch", type=pathlib.Path)
    parser.add_argument("--cuda", type=pathlib.Path)
    parser.add_argument("--rewrite", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        torch, cuda = options.torch, options.cuda
        if torch is None or cuda is None:
            torch, cuda = download(folder / "wheels", options.version)
        program, runtime = build(folder, torch.resolve(), cuda.resolve())
        random = "".join(run(program, runtime, mode) for mode in modes())
        version = version_of(torch)
        same = compare(HERE / f"random_{version}.csv", random, options.rewrite)
        if version != "2.11":  # Which takes other blocks of one size.
            steps = step_lines(options.symprof.resolve(), program, runtime, folder)
            same &= compare(HERE / "steps.csv", steps, options.rewrite)
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
