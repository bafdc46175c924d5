#!/usr/bin/env python3
"""Measures steps of exported models on a GPU with `symprof measure` and collects the runs.

    python truth/measured/record_runs.py --symprof build/release/bin/symprof --out RUNS [--seconds 260] [--only REGEX]
    python truth/measured/record_runs.py --out RUNS --collect truth/measured/h200.zip

Models are those of truth/h200/data (exported with their loss) and of models/. What is in RUNS is skipped, so that a
second call goes on. --libraries FOLDER stands before others where the loader looks."""
import argparse
import json
import os
import pathlib
import re
import subprocess
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ADAMW = ["--optimizer", "adamw:foreach"]
AUTOCAST = ["--autocast", "bf16"]
INFERENCE = ["--mode", "inference"]

# Name: model (a path, or an export's folder in truth/h200/data) and the options of its step.
JOBS = {
    "resnet50-fp32": ("resnet50-b32-fp32", ADAMW),
    "gpt2_small-autocast": ("gpt2_small-b10-fp32", AUTOCAST + ADAMW),
    "bert_base-bf16": ("bert_base-b20-bf16", ADAMW),
    "vit_b_16-autocast": ("vit_b_16-b40-fp32", AUTOCAST + ["--optimizer", "adamw:fused"]),
    "convnext_tiny-autocast": ("convnext_tiny-b40-fp32", AUTOCAST + ADAMW),
    "llama_1b-bf16": ("llama_1b-b3-bf16", ADAMW),
    "gpt2_medium-fp32": ("gpt2_medium-b6-fp32", ADAMW),
    "swin_t-bf16": ("swin_t-b40-bf16", ADAMW),
    "t5_small-bf16": ("t5_small-b20-bf16", ADAMW),
    "unet-autocast": ("unet-b10-fp32", AUTOCAST + ADAMW),
    "clip-fp32": ("clip-b40-fp32", ADAMW),
    "whisper_base-autocast": ("whisper_base-b10-fp32", AUTOCAST + ADAMW),
    "mistral_like-bf16": ("mistral_like-b6-bf16", ADAMW),
    "qwen_like-autocast": ("qwen_like-b6-fp32", AUTOCAST + ADAMW),
    "efficientnet_b0-autocast": ("efficientnet_b0-b80-fp32", AUTOCAST + ADAMW),
    "lstm-fp32": ("lstm-b80-fp32", ADAMW),
    "resnet50-bf16": ("resnet50-b80-bf16", ADAMW),
    "vit_b_16-fp32": ("vit_b_16-b40-fp32", ADAMW),
    "bert_base-fp32": ("bert_base-b20-fp32", ["--optimizer", "sgd_momentum:foreach"]),
    "gpt2_medium-bf16": ("gpt2_medium-b6-bf16", ADAMW),
    "shipped-gpt2-fp32": ("models/gpt2.pt2", ADAMW),
    "shipped-gpt2-checkpointed": ("models/gpt2.pt2", AUTOCAST + ["--checkpoint", "model.transformer.h.*"] + ADAMW),
    "shipped-bert-autocast": ("models/bert_base.pt2", ["--set", "batch=32"] + AUTOCAST + ADAMW),
    "shipped-resnet50-autocast": ("models/resnet50.pt2",
                                  ["--set", "batch=64"] + AUTOCAST + ["--loss", "cross_entropy"] + ADAMW),
    "shipped-vit-bf16": ("models/vit_b_16.pt2", ["--set", "batch=64", "--dtype", "bf16"] + ADAMW),
    "shipped-llama_7b-bf16": ("models/llama_7b.pt2", ["--dtype", "bf16", "--optimizer", "sgd:foreach"]),
    "moe_small-bf16": ("moe_small-b6-bf16", ADAMW),
    "resnet50-inference-fp32": ("resnet50-b80-fp32", INFERENCE),
    "vit_b_16-inference-bf16": ("vit_b_16-b40-bf16", INFERENCE),
    "shipped-llama_7b-inference-bf16": ("models/llama_7b.pt2", ["--dtype", "bf16"] + INFERENCE),
    "shipped-gpt2-inference-autocast": ("models/gpt2.pt2", AUTOCAST + INFERENCE),
    "convnext_tiny-fp32": ("convnext_tiny-b40-fp32", ADAMW),
    "unet-fp32": ("unet-b10-fp32", ADAMW),
    "efficientnet_b0-fp32": ("efficientnet_b0-b80-fp32", ADAMW),
    "lstm-bf16": ("lstm-b80-bf16", ADAMW),
    "llama_1b-fp32": ("llama_1b-b3-fp32", ["--optimizer", "adamw:fused"]),
}
# Other batches and dtypes of them, recorded last.
JOBS |= {
    "small-gpt2_small-bf16": ("gpt2_small-b4-bf16", ADAMW),
    "small-bert_base-autocast": ("bert_base-b8-fp32", AUTOCAST + ADAMW),
    "small-llama_1b-autocast": ("llama_1b-b1-fp32", AUTOCAST + ADAMW),
    "small-t5_small-fp32": ("t5_small-b8-fp32", ADAMW),
    "large-clip-bf16": ("clip-b40-bf16", ADAMW),
    "large-whisper_base-fp32": ("whisper_base-b10-fp32", ADAMW),
    "large-mistral_like-autocast": ("mistral_like-b6-fp32", AUTOCAST + ADAMW),
    "large-qwen_like-bf16": ("qwen_like-b6-bf16", ADAMW),
    "large-swin_t-autocast": ("swin_t-b40-fp32", AUTOCAST + ADAMW),
    "large-unet-bf16": ("unet-b10-bf16", ADAMW),
    "large-efficientnet_b0-bf16": ("efficientnet_b0-b80-bf16", ADAMW),
    "large-resnet50-autocast": ("resnet50-b80-fp32", AUTOCAST + ADAMW),
    "large-vit_b_16-inference-autocast": ("vit_b_16-b40-fp32", AUTOCAST + INFERENCE),
    "large-bert_base-inference-fp32": ("bert_base-b20-fp32", INFERENCE),
}
# The same steps with CUDA's events around each call.
BY_EVENTS = ("gpt2_medium-fp32", "vit_b_16-fp32", "llama_1b-bf16", "resnet50-bf16", "shipped-gpt2-fp32")
JOBS |= {f"events-{name}": (JOBS[name][0], JOBS[name][1] + ["--timing", "events"]) for name in BY_EVENTS}


def unpack_exports(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for archive in sorted((ROOT / "truth" / "h200" / "data").glob("*.zip")):
        with zipfile.ZipFile(archive) as packed:
            for name in packed.namelist():
                if name.endswith("/program.pt2"):
                    case = name.split("/")[0].removeprefix("export-")
                    (folder / f"{case}.pt2").write_bytes(packed.read(name))


def path_of(model, exports):
    return ROOT / model if "/" in model else exports / f"{model}.pt2"


def measure(symprof, name, out, exports, environment):
    model, options = JOBS[name]
    command = [symprof, "measure", str(path_of(model, exports)), "--device", "cuda", "--steps", "10", "--by", "op",
               "--top", "12", "--save", str(out / f"{name}.json"), *options]
    begin = time.time()
    with open(out / f"{name}.txt", "w") as text:
        try:
            code = subprocess.run(command, env=environment, stdout=text, stderr=subprocess.STDOUT, timeout=60).returncode
        except subprocess.TimeoutExpired:
            code = "took too long"
    lines = [re.sub(r"\s+", " ", line)[:120] for line in (out / f"{name}.txt").read_text().splitlines()
             if re.match("step |found|peak|recording|symprof:", line)]
    print(f"{name}: {code}, {time.time() - begin:.1f} s | " + " | ".join(lines), flush=True)


def collect(out, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, (model, _) in JOBS.items():
            if not (out / f"{name}.json").exists():
                continue
            run = json.loads((out / f"{name}.json").read_text())
            run["model"] = model
            packed.writestr(zipfile.ZipInfo(f"{name}.json"), json.dumps(run, separators=(",", ":")),
                            zipfile.ZIP_DEFLATED)
    print(f"{path}: {path.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--symprof")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=260)
    parser.add_argument("--only", default=".")
    parser.add_argument("--libraries", default="")
    parser.add_argument("--collect", type=pathlib.Path)
    given = parser.parse_args()
    if given.collect:
        return collect(given.out, given.collect)
    given.out.mkdir(parents=True, exist_ok=True)
    exports = given.out / "exports"
    unpack_exports(exports)
    environment = {**os.environ}
    if given.libraries:
        environment["LD_LIBRARY_PATH"] = f"{given.libraries}:{environment.get('LD_LIBRARY_PATH', '')}"
    begin = time.time()
    for name in JOBS:
        if re.search(given.only, name) and not (given.out / f"{name}.json").exists():
            if time.time() - begin > given.seconds:
                break
            measure(given.symprof, name, given.out, exports, environment)


if __name__ == "__main__":
    main()
