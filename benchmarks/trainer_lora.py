#!/usr/bin/env python3
"""transformers' Trainer with LoRA on a LLaMA-8B from an empty config, three steps of it, under `symprof run`.

Usage: benchmarks/trainer_lora.py [-n ROUNDS] [-o RESULT.json]         (torch, transformers, peft, accelerate; symprof in PYTHONPATH)

Whole commands, in turn, each in a process of its own, with the CPU seconds (user and system) that it took:
  symprof   `symprof run --device h100` of the program below, with its report;
  building  a script that imports transformers and peft and builds the same model with LoRA on `meta`;
  imports   the same script's imports alone.
Steps, in turn in one process, CPU milliseconds of forward, backward, clipping and AdamW; a first one is not counted:
  symprof   on the simulated device, recorded;
  meta      on plain tensors of `meta`, which nobody observes, with the shape functions of C++ that a simulation uses (as eager.py);
The least of the rounds, as other programs on the machine only add to it, and (median).
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

MODEL = """
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, LlamaConfig

def make(device):
    config = LlamaConfig(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                         num_key_value_heads=8, vocab_size=128256, use_cache=False)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    return get_peft_model(model, LoraConfig(r=16, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"))
"""
TRAINER = MODEL + """
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

class Texts(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        ids = torch.arange(512)
        return {"input_ids": ids, "labels": ids}

args = TrainingArguments(output_dir="out", per_device_train_batch_size=2, max_steps=3, report_to=[], bf16=True, logging_steps=1,
                         save_strategy="no")
Trainer(make("cuda"), args, train_dataset=Texts()).train()
"""
SCRIPTS = {"symprof": TRAINER, "building": "import transformers, peft\n" + MODEL + "make('meta')\n",
           "imports": "import transformers, peft\n" + MODEL}


def command_seconds(name, folder):
    script = pathlib.Path(folder) / f"{name}_script.py"
    script.write_text(SCRIPTS[name])
    tool = ["-m", "symprof", "run", "--device", "h100"] if name == "symprof" else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *tool, str(script)], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{folder}/compiled"})
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def step_seconds(make, device, steps=3):
    import torch

    model = make(device).train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    ids, seconds = torch.zeros(2, 512, dtype=torch.int64).to(device), []
    for _ in range(steps + 1):
        start = time.process_time()
        model(input_ids=ids, labels=ids).loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.process_time() - start)
    return seconds[1:]


def step_rounds(rounds):
    import symprof  # Before torch.
    from symprof import _kernels

    import transformers.masking_utils

    # It reads a mask's values, which tensors of `meta` do not have.
    transformers.masking_utils.find_packed_sequence_indices = lambda position_ids: None
    space = {}
    exec(MODEL, space)
    found = {"symprof": [], "meta": []}
    for _ in range(rounds):
        with symprof.simulate("h100"):
            found["symprof"] += step_seconds(space["make"], "cuda")
        with _kernels.of_cpp():
            found["meta"] += step_seconds(space["make"], "meta")
    return found


def said(values, unit=1.0, digits=2):
    return f"{min(values) * unit:.{digits}f} ({statistics.median(values) * unit:.{digits}f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--rounds", type=int, default=5)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    commands = {name: [] for name in SCRIPTS}
    with tempfile.TemporaryDirectory() as folder:
        for name in SCRIPTS:  # Compiled modules are written.
            command_seconds(name, folder)
        for _ in range(options.rounds):
            for name, seconds in commands.items():
                seconds.append(command_seconds(name, folder))
    steps = step_rounds(options.rounds)
    print("| whole command, CPU s | building on meta, CPU s | ratio | imports alone, CPU s |\n| --- | --- | --- | --- |")
    ratio = min(commands["symprof"]) / min(commands["building"])
    print(f"| {said(commands['symprof'])} | {said(commands['building'])} | {ratio:.2f} | {said(commands['imports'])} |\n")
    print("| recorded step, CPU ms | the same on meta, CPU ms | symprof itself, ms |\n| --- | --- | --- |")
    own = (min(steps["symprof"]) - min(steps["meta"])) * 1000
    print(f"| {said(steps['symprof'], 1000, 0)} | {said(steps['meta'], 1000, 0)} | {own:.0f} |")
    if options.output:
        options.output.write_text(json.dumps({"commands": commands, "steps": steps}, indent=1) + "\n")


if __name__ == "__main__":
    main()
