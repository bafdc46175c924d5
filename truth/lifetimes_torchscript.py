#!/usr/bin/env python3
"""Compares symprof's forward peaks of TorchScript files with lifetimes/eager.json.

Usage: python truth/lifetimes_torchscript.py SYMPROF [NAME ...]
Traces and scripts models of the zoo, on the CPU, and prints for each how far the peak is from
the eager module's: with --lifetimes frames, and with last-use.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
EAGER = json.loads((HERE / "lifetimes" / "eager.json").read_text())
sys.path.insert(0, str(ROOT / "models"))
SCRIPTED = (
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "mobilenet_v3_large",
    "mvit_v2_s", "r3d_18", "regnet_y_400mf", "resnext50_32x4d", "shufflenet_v2_x1_0", "swin_t",
    "vgg11_bn", "vit_b_32",
)
TRACED = SCRIPTED + (
    "albert_base", "bart_base", "bert", "clip", "distilbert", "dit", "googlenet", "gpt2_small",
    "hf_convnext", "hf_vit", "lraspp_mobilenet_v3", "opt_125m", "roberta", "segformer_b0",
    "t5_base",
)


def write(name, kind, path):
    """Writes the file, and gives its input as symprof's option."""
    import zoo  # noqa: F401, defines torchvision's operators
    import pt_file
    from architectures import ARCHITECTURES, building

    warnings.filterwarnings("ignore")
    module, inputs = building.build_with_memory(ARCHITECTURES[name])
    traced = kind == "traced"
    script = pt_file.trace(module, inputs, "eval") if traced else pt_file.script(module, "eval")
    pt_file.write(script, path, keep_lines=True)
    first = inputs[0]
    sizes = ",".join(map(str, first.shape))
    return [] if traced else ["--input", f"x={str(first.dtype).split('.')[1]}[{sizes}]"]


def peak_bytes(program, path, options, lifetimes):
    command = [program, "profile", path, "--mode", "inference", "--lifetimes", lifetimes]
    done = subprocess.run([*command, "--format", "json", *options], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)["totals"]["peak_tensor_bytes"]


def compare(program, name, kind):
    wanted = EAGER[name]["peak_bytes"]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{name}.pt"
        options = write(name, kind, path)
        found = [peak_bytes(program, path, options, each) for each in ("frames", "last-use")]
    return [f"{100 * (each - wanted) / wanted:+.2f} %" for each in found]


def main():
    program, names = sys.argv[1], sys.argv[2:]
    for kind, all_names in (("scripted", SCRIPTED), ("traced", TRACED)):
        for name in all_names:
            if not names or name in names:
                frames, last_use = compare(program, name, kind)
                print(f"{name:22} {kind:10} frames {frames:>9}   last use {last_use:>9}", flush=True)


if __name__ == "__main__":
    main()
