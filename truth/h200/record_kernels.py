"""Records what real kernels cost on a GPU: operators in isolation, whole training steps, the device.

usage: record_kernels.py --list
       record_kernels.py --out FOLDER [--part operators|steps|device|all] [--done FOLDER]...
                         [--seconds N] [--family NAME] [--device cuda|cpu] [--small]
       record_kernels.py --pack FOLDER --done FOLDER [--done FOLDER]...

It stops by itself after --seconds and goes on where it stopped: what lies in --out or in a --done
folder is not measured again. --pack makes the columns that are committed. KERNELS.md has the commands
and the meaning of every column."""
import argparse
import itertools
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from kernels import pack, points, storage  # noqa: E402  (torch comes later: --list needs none)

BATCH = 48
BATCH_OF_MANY = 12  # recurrent layers


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="points and estimated seconds by family")
    parser.add_argument("--out", help="folder for what this command measures")
    parser.add_argument("--done", action="append", default=[], help="folder of an earlier command")
    parser.add_argument("--pack", help="folder for the columns of all --done folders")
    parser.add_argument("--part", choices=("operators", "steps", "device", "all"), default="all")
    parser.add_argument("--sweep", type=int, choices=points.SWEEPS, default=1, help="which points (1)")
    parser.add_argument("--family", action="append", help="only this family of operators; may be repeated")
    parser.add_argument("--every", type=int, default=1, help="only every Nth point (1)")
    parser.add_argument("--model", action="append", help="only this model's steps; may be repeated")
    parser.add_argument("--seconds", type=float, default=540, help="stop before this many (540)")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to try every line")
    return parser, parser.parse_args()


class Run:
    """One command: where it writes, what is done already, when it must stop."""

    def __init__(self, options):
        from kernels import machine, profiling
        self.device, self.small = options.device, options.small
        self.sweep, self.families, self.every = points.SWEEPS[options.sweep], options.family, options.every
        self.models = options.model
        self.out = pathlib.Path(options.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.folders = [*options.done, self.out]
        self.end = time.monotonic() + options.seconds
        self.clocks = machine.Clocks()
        facts = machine.describe(self.device, self.clocks)
        facts["small"] = self.small
        profiling.warm_up(self.device)
        (self.out / "machine.json").write_text(json.dumps(facts, indent=1) + "\n")

    def seconds_left(self):
        return self.end - time.monotonic()

    def save(self, name, rows):
        storage.append(self.out / name, rows)

    def done(self, name, key):
        return {row[key] for row in storage.rows_in(self.folders, name)}


def batches(todo):
    """Lists of points that one profiler session measures."""
    for family, points_of in itertools.groupby(todo, lambda p: p.family == "recurrent"):
        points, size = list(points_of), BATCH_OF_MANY if family else BATCH
        for first in range(0, len(points), size):
            yield points[first:first + size]


def record_operators(run):
    from kernels import operators
    done = run.done("operators.jsonl.gz", "key")
    wanted = [p for p in run.sweep(run.small) if run.families is None or p.family in run.families]
    todo = [p for p in wanted[::run.every] if points.key(p) not in done]
    print(f"operators: {len(done)} points are done, {len(todo)} to do", flush=True)
    measured = 0
    for number, batch in enumerate(batches(todo)):
        # Twice the estimate and the writing of a trace: a batch that is begun is also finished.
        if run.seconds_left() < 10 + 2 * sum(map(points.estimated_seconds, batch)):
            print(f"operators: out of time, {len(todo) - measured} points are left", flush=True)
            return False
        rows = operators.measure_batch(batch, run.device, run.clocks)
        run.save("operators.jsonl.gz", rows)
        measured += len(batch)
        failed = [row for row in rows if row["error"]]
        print(f"operators: batch {number + 1}, {len(rows)} points, {len(failed)} refused, "
              f"{run.seconds_left():.0f} s left", flush=True)
    return True


def record_steps(run):
    from kernels import models, steps
    done = run.done("steps.jsonl.gz", "model")
    for name in run.models or models.MODELS:
        if name in done:
            continue
        if run.seconds_left() < 60:
            print(f"steps: out of time before {name}", flush=True)
            return False
        row = steps.measure(name, run.device, run.small, run.clocks)
        run.save("steps.jsonl.gz", [row])
        print(f"steps: {name}: {row['error'] or 'done'}, {run.seconds_left():.0f} s left", flush=True)
    return True


def record_device(run):
    from kernels import device
    if storage.rows_in(run.folders, "device.jsonl.gz"):
        return True
    if run.seconds_left() < 60:
        print("device: out of time", flush=True)
        return False
    run.save("device.jsonl.gz", [device.measure(run.device, run.small, run.clocks)])
    print(f"device: done, {run.seconds_left():.0f} s left", flush=True)
    return True


PARTS = {"device": record_device, "steps": record_steps, "operators": record_operators}
FILES = {part: f"{part}.jsonl.gz" for part in PARTS}


def main():
    parser, options = arguments()
    if options.list:
        print("\n".join(points.listing(points.SWEEPS[options.sweep](options.small))))
        return 0
    if options.pack:
        print("\n".join(pack.pack(options.pack, options.done)))
        return 0
    if not options.out:
        parser.error("--out FOLDER, --pack FOLDER or --list is needed")
    wanted = PARTS if options.part == "all" else {options.part: PARTS[options.part]}
    return record(Run(options), wanted)


def record(run, wanted):
    """Exit status: 0 all is done, 4 something is left, 5 the GPU's context was lost."""
    from kernels.operators import StickyError
    finished = []
    for name, part in wanted.items():
        try:
            finished.append(part(run))
        except StickyError as error:
            run.save(FILES[name], [error.row])
            print(error, file=sys.stderr)
            return 5
    return 0 if all(finished) else 4


if __name__ == "__main__":
    sys.exit(main())
