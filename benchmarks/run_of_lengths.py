"""10,000 steps of a 7B decoder whose batches have 300 shapes: `symprof fit --lengths`, beside PyTorch's CUDA build running the
first of the very same steps on a GPU that computes nothing (a stub CUDA driver).

    run_of_lengths.py model FILE.pt2                                   # exports the decoder with open sizes; no weights
    run_of_lengths.py compare PROGRAM FILE.pt2 --stub 'COMMAND' [--steps 40]

COMMAND is what runs a Python file on the stub driver: "run.sh /path/to/python" (truth/loops/README.md).
"""
import argparse
import csv
import json
import pathlib
import random
import resource
import shlex
import subprocess
import sys
import tempfile
import time

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
STEPS, SHAPES, TOKENS, LONGEST = 10_000, 300, 8192, 2048


def batches():
    """(samples, length) of each step: lengths of a lognormal distribution, as many samples as the token budget holds."""
    draw = random.Random(52)
    lengths: set[int] = set()
    while len(lengths) < SHAPES:
        lengths.add(max(2, min(LONGEST, int(draw.lognormvariate(6, 0.7)))))
    ordered = sorted(lengths)
    return [(TOKENS // length, length) for length in (draw.choice(ordered) for _ in range(STEPS))]


def write_model(path):
    sys.path.insert(0, str(MODELS))
    import pt2_file
    import torch
    import zoo

    module, (ids,) = zoo.build_without_memory("llama_7b")
    with ids.fake_mode:
        ids = torch.zeros(2, 128, dtype=torch.int64)
    sizes = {0: torch.export.Dim("batch", min=1, max=TOKENS), 1: torch.export.Dim("seq", min=2, max=LONGEST)}
    program = torch.export.export(module.train(), (ids,), dynamic_shapes=(sizes,), strict=False)
    pt2_file.write(program, path, keep_weights=False)


def run_loop(steps):
    """The loop itself, on PyTorch's CUDA build; a line of JSON with bytes after each step and CPU seconds of a step."""
    sys.path.insert(0, str(MODELS))
    import language_models
    import torch

    with torch.device("meta"):
        module, _ = language_models.llama_7b()
    module.to_empty(device="cuda").train()
    optimizer = torch.optim.AdamW(module.parameters())
    rows, seconds = [], []
    for samples, length in batches()[:steps]:
        start = time.process_time()
        optimizer.zero_grad()
        ids = torch.zeros(samples, length, dtype=torch.int64).to("cuda")
        output = module(ids)
        output.backward(torch.ones_like(output))
        optimizer.step()
        seconds.append(time.process_time() - start)
        rows.append((torch.cuda.memory_allocated(), torch.cuda.memory_reserved()))
    print(json.dumps({"rows": rows, "seconds": seconds}))


def fit(program, model, *options):
    """Rows of the passes, CPU seconds and the largest resident memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        shapes = pathlib.Path(folder) / "shapes.csv"
        shapes.write_text("batch,length\n" + "".join(f"{samples},{length}\n" for samples, length in batches()))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = subprocess.run(
            [program, "fit", model, "--lengths", str(shapes), "--optimizer", "adamw", "--device", "h200", "--format", "csv", *options],
            capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rows = [(int(row["allocated_bytes"]), int(row["reserved_bytes"])) for row in csv.DictReader(answer.stdout.splitlines())]
    return rows, seconds, after.ru_maxrss / 1024


def compare(program, model, stub, steps):
    rows, seconds, memory = fit(program, model, "--no-trials")
    print(f"symprof fit --no-trials: {len(rows)} steps, {seconds:.1f} CPU s, {memory:.0f} MiB")
    rows, with_trials, memory = fit(program, model)
    print(f"symprof fit:             {len(rows)} steps, {with_trials:.1f} CPU s, {memory:.0f} MiB, with four other settings")
    loop = subprocess.run([*shlex.split(stub), __file__, "loop", str(steps)], capture_output=True, text=True)
    if not loop.stdout:
        sys.exit(loop.stderr)
    ran = json.loads(loop.stdout.splitlines()[-1])
    step = sum(ran["seconds"][2:]) / len(ran["seconds"][2:])
    pairs = list(zip(ran["rows"], rows))
    held = sum(theirs[0] == ours[0] for theirs, ours in pairs)
    off = max(abs(ours[1] / theirs[1] - 1) for theirs, ours in pairs)
    print(f"PyTorch, stub driver:    {step:.3f} CPU s a step, {steps - 2} steps; after {held} of {steps} the same bytes are allocated, "
          f"reserved bytes differ by at most {off:.2%}")
    print(f"times as fast:           {step * STEPS / seconds:.0f} (with the trials {step * STEPS / with_trials:.0f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("model").add_argument("file", type=pathlib.Path)
    commands.add_parser("loop").add_argument("steps", type=int)
    both = commands.add_parser("compare")
    both.add_argument("program")
    both.add_argument("file")
    both.add_argument("--stub", required=True)
    both.add_argument("--steps", type=int, default=40)
    given = parser.parse_args()
    if given.command == "model":
        write_model(given.file)
    elif given.command == "loop":
        run_loop(given.steps)
    else:
        compare(given.program, given.file, given.stub, given.steps)


if __name__ == "__main__":
    main()
