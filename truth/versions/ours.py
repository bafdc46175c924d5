#!/usr/bin/env python3
"""What symprof says about the models under the torch of this interpreter, beside reference.py's answers.

Usage: ours.py FOLDER     reads FOLDER/reference.json and FOLDER/NAME.pt2; prints JSON"""
import json
import pathlib
import subprocess
import sys
import time
import warnings

STARTED = time.time()
import symprof  # Before torch.

import torch
from models import EXPORTED, FIGURES, NAMES, SCRIPT, build
from symprof_command import environment, part


def command(*words):
    done = subprocess.run([str(part("bin/symprof")), *map(str, words)], env=environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)["totals"]


def of_module(name):
    module, inputs = build(name)
    return symprof.profile(module.train(), *inputs).totals


def of_script():
    words = ("-W", "ignore", "-m", "symprof", "run", "--format", "json", str(SCRIPT))
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout[done.stdout.index("{"):])["totals"]  # The script prints, too.


def compare(found, wanted, name, differences):
    for figure in FIGURES:
        if found[figure] != wanted[figure]:
            differences.append(f"{name} {figure}: symprof {found[figure]}, PyTorch {wanted[figure]}")
    return len(FIGURES)


def main():
    warnings.filterwarnings("ignore")
    folder = pathlib.Path(sys.argv[1])
    reference = json.loads((folder / "reference.json").read_text())
    if reference["torch"] != torch.__version__:
        sys.exit(f"{folder}: has the figures of torch {reference['torch']}, this is {torch.__version__}")
    wanted, differences, compared = reference["models"], [], 0
    for name in NAMES:
        compared += compare(of_module(name), wanted[name], name, differences)
        if name == NAMES[0]:
            first = time.time() - STARTED
    compared += compare(of_script(), wanted[SCRIPT.name], SCRIPT.name, differences)
    runnable = [name for name in EXPORTED if "refused" not in wanted[f"{name}.pt2"]]
    for name in runnable:
        compared += compare(command("profile", folder / f"{name}.pt2", "--format", "json", "--quiet"), wanted[f"{name}.pt2"], f"{name}.pt2", differences)
    print(json.dumps({"torch": torch.__version__, "python": f"{sys.version_info.major}.{sys.version_info.minor}", "compared": compared,
                      "differences": differences, "left_out": [name for name in EXPORTED if name not in runnable], "seconds_to_first": round(first, 1), "seconds": round(time.time() - STARTED, 1)}))


if __name__ == "__main__":
    main()
