"""symprof show and stats, held against every fact that public tools gave of the golden models.

    golden.py PROGRAM [GOLDEN]

GOLDEN is a folder that tests/workbench/golden/make_golden.py wrote: all it makes, of which the one in tests (the
default) keeps a part. Where a tool is wrong, `known` says so, and symprof's answer is checked to be the other.
Standard library only.
"""
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTS = ["ir_version", "opset", "nodes", "nodes_inlined", "ops", "ops_inlined", "inputs", "outputs"]
TYPES = {1: "FLOAT", 2: "UINT8", 3: "INT8", 6: "INT32", 7: "INT64", 9: "BOOL", 10: "FLOAT16", 11: "DOUBLE"}


class Tally:
    def __init__(self):
        self.equal, self.known, self.wrong = {}, {}, []

    def check(self, what, where, is_equal, known=""):
        if is_equal:
            self.equal[what] = self.equal.get(what, 0) + 1
        elif known:
            self.known[what, known] = self.known.get((what, known), 0) + 1
        else:
            self.wrong.append(f"{what} of {where}")


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True).stdout


def check_text(tally, program, golden, model):
    wanted = (golden / "text" / f"{model.stem}.txt").read_text().rstrip("\n").split("\n")
    found = run(program, "show", str(model), "--style", "pretty").rstrip("\n").split("\n")
    tally.check("lines of text", model.stem, len(found) == len(wanted))
    for mine, theirs in zip(found, wanted):
        small = theirs.startswith("init:") and "type=int32" in theirs and mine.startswith(theirs.split(" type=")[0])
        tally.check("lines of text", f"{model.stem}: {theirs}", mine == theirs,
                    "onnx-array-api calls tensors of 8 and 16 bits int32" if small else "")


def close(mine, theirs, scale):
    if mine is None:
        return False
    return mine == theirs or math.isclose(mine, theirs, rel_tol=1e-5, abs_tol=1e-5 * max(scale, 1e-30))


def reason(mine, theirs, name):
    """Why a figure may differ; empty: it may not."""
    if theirs["nnan"]:
        return "NaN is no number: symprof leaves it out, and counts it"
    if math.isfinite(theirs[name]):
        return ""
    return "JSON has no infinity: null" if mine is None else "sums of float32 overflow, those of float64 do not"


def check_tensor(tally, where, mine, theirs):
    what = "facts of tensors"
    if "error" in theirs:
        tally.check(what, where, False, "onnx-diagnostic fails on empty tensors, booleans and texts")
        return
    tally.check(what, where + " type", TYPES[mine["type"]] == theirs["stype"])
    tally.check(what, where + " shape", "x".join(map(str, mine["shape"])) == theirs["shape"])
    tally.check(what, where + " sizes", (mine["elements"], mine["bytes"]) == (theirs["numel"], theirs["size"]))
    tally.check(what, where + " nan", mine["nan"] == theirs["nnan"])
    numbers = {"least": "min", "greatest": "max", "mean": "mean", "deviation": "std"}
    scale = max(abs(mine["least"] or 0), abs(mine["greatest"] or 0))
    for own, name in numbers.items():
        tally.check(what, f"{where} {name}", close(mine[own], theirs[name], scale), reason(mine[own], theirs, name))
    for i, decile in enumerate(mine["deciles"]):
        tally.check(what, f"{where} decile {i + 1}", close(decile, theirs[f"q0.{i + 1}"], scale))
    above = {key: count for key, count in theirs.items() if key.startswith(">")}
    for key, count in above.items():
        bound = float(key[1:])
        own = [number for limit, number in mine["above"] if math.isclose(limit, bound, rel_tol=1e-3)]
        tally.check(what, f"{where} {key}", own == [count],
                    "1e50 is no whole number of 64 bits" if bound < 0 else "")


def check_stats(tally, program, golden, model):
    wanted = json.loads((golden / "stats" / f"{model.stem}.json").read_text())
    found = json.loads(run(program, "stats", str(model), "--tensors", "--format", "json"))
    for key in COUNTS:
        tally.check("counts", f"{model.stem} {key}", found[key] == wanted[key])
    for key in ["number", "by_type", "elements", "by_shape"]:
        tally.check("counts", f"{model.stem} {key}", found["initializers"][key] == wanted["initializers"][key])
    functions = [{key: value for key, value in one.items() if key != "calls"} for one in found["functions"]]
    tally.check("counts", f"{model.stem} functions", functions == wanted["functions"])
    if "file_bytes" in wanted:
        tally.check("counts", f"{model.stem} bytes", model.stat().st_size == wanted["file_bytes"])
    tensors = {one["function"] + one["name"]: one for one in found["tensors"]}
    for name, theirs in wanted.get("tensors", {}).items():
        where = f"{model.stem} {name}"
        if name in tensors:
            check_tensor(tally, where, tensors[name], theirs)
        else:
            tally.check("facts of tensors", where, False, "texts have no figures" if "error" in theirs else "")


def main():
    program = sys.argv[1]
    golden = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "tests/workbench/golden"
    tally = Tally()
    for model in sorted((golden / "models").glob("*.onnx")):
        if (golden / "text" / f"{model.stem}.txt").exists():
            check_text(tally, program, golden, model)
        if (golden / "stats" / f"{model.stem}.json").exists():
            check_stats(tally, program, golden, model)
    for what, count in tally.equal.items():
        print(f"{count:7} {what} equal")
    for (what, reason), count in tally.known.items():
        print(f"{count:7} {what} otherwise: {reason}")
    for line in tally.wrong:
        print("  wrong:", line)
    return bool(tally.wrong)


if __name__ == "__main__":
    sys.exit(main())
