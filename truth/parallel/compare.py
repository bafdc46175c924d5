#!/usr/bin/env python3
"""Compares symprof's peaks of one rank with ranks_truth.json, and its collectives with those recorded.

Usage: python compare.py SYMPROF [REGEX] [RECORDS.json]
Prints a line for each record. ranks_held_out.json has those of models that nothing was looked up in."""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SCHEDULES = {"1F1B": "1f1b", "GPipe": "gpipe", "Interleaved1F1B": "interleaved"}
SHORT = {"bfloat16": "bf16", "float32": "fp32"}


def engine(config):
    """The options of `symprof profile` for a configuration."""
    kind, world = config["kind"], config["world"]
    if kind == "none":
        text = ""
    elif kind == "ddp":
        text = f"ddp={world}" + (":view" if config.get("gradient_as_bucket_view") else "")
        if "bucket_cap_mb" in config:
            text += f":cap={int(config['bucket_cap_mb'] * 1048576)}"
    elif kind == "fsdp":
        text = f"fsdp={world}"
    elif kind == "hsdp":
        text = f"hsdp=2x{world // 2}"
    elif kind == "tp":
        text = f"tp={world}" + (":sp" if config.get("sequence") else "") + (":loss" if config.get("loss") else "")
    elif kind == "fsdp_tp":
        text = f"tp={config.get('tp', 2)}:sp fsdp={world // config.get('tp', 2)}"
    elif kind == "ddp_tp":
        text = f"ddp={world // config['tp']} tp={config['tp']}" + (":sp" if config.get("sequence") else "")
    elif kind == "pp":
        text = f"pp={world}:{SCHEDULES[config['schedule']]}:mb={config['microbatches']}:rank={config.get('rank', 0)}"
        if config.get("data"):
            text += f" {config['data']}={config['data_ranks']}" + (":view" if config["data"] == "ddp" else "")
    reshard = config.get("reshard_after_forward")
    if reshard is not None:
        text += ":keep" if reshard is False else ":reshard" if reshard is True else f":reshard={reshard}"
    for key, option in (("param_dtype", "param"), ("reduce_dtype", "reduce")):
        if config.get(key):
            text += f":{option}={SHORT[config[key]]}"
    if config.get("rank") and kind != "pp":
        text += f":rank={config['rank']}"
    options = ["--parallel", text] if text else []
    if kind in ("fsdp", "hsdp", "fsdp_tp", "ddp_tp", "pp"):
        options += ["--wrap", "model"] + ([] if config.get("root_only") else ["--wrap", "model.layers.*"])
    if config.get("autocast"):
        options += ["--autocast", "bf16"]
    if config.get("autocast") or config.get("param_dtype"):
        options += ["--attention", "flash"]  # TORCH_CUDNN_SDPA_DEPRIORITIZED
    if config.get("allocator"):
        options += ["--alloc-conf", config["allocator"]]
    if config.get("accumulate"):
        options += ["--micro-batches", str(config["accumulate"])]
    if config.get("set_to_none") is False:
        options += ["--keep-gradients"]
    if config.get("checkpoint"):
        options += ["--checkpoint", "model.layers.*"]
    if config.get("clip"):
        options += ["--clip-grad-norm"]
    if kind == "pp":  # The file has the batch of one microbatch.
        options += ["--set", f"batch={config['batch'] // config['microbatches']}"]
    return options


def answer(symprof, model, options):
    command = [symprof, "profile", str(HERE / "models" / f"{model}.pt2"), *options, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[:2]}
    return json.loads(done.stdout)


def main():
    symprof, only = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    truth = json.loads(pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else HERE / "ranks_truth.json").read_text())
    allocated = reserved = 0
    for record in truth["records"]:
        name = f"{record['model']}/{record['config']}/{record['optimizer']}"
        if not re.search(only, name):
            continue
        options = engine(truth["configs"][record["config"]])
        found = answer(symprof, record["model"], [*options, "--optimizer", record["optimizer"]])
        if "error" in found:
            print(name, found["error"])
            continue
        totals = found["totals"]
        a = totals["peak_allocated_bytes"] - record["peak_allocated"]
        r = totals["peak_reserved_bytes"] - record["peak_reserved"]
        allocated, reserved = allocated + (a == 0), reserved + (r == 0)
        print(name, "equal" if a == r == 0 else f"allocated {a:+,} reserved {r:+,} of {record['peak_allocated']:,} {record['peak_reserved']:,}", flush=True)
    print(f"allocated equal in {allocated}, reserved in {reserved}")


if __name__ == "__main__":
    main()
