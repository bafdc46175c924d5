"""Which kernels the program's rules say that PyTorch's calls launch: symprof_time_rows is asked, so that there is no second
copy of the rules. truth/h200/record_calls.py wrote down the ATen calls of what was measured."""
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build" / "release" / "bin" / "symprof_time_rows"
sys.path.append(str(ROOT / "truth" / "h200"))

from kernels import storage  # noqa: E402


@functools.cache
def recorded_calls():
    return storage.read_document(ROOT / "truth" / "h200" / "operator_calls.json.gz")


def kernels_of(document, device, program=PROGRAM):
    """For each of the document's calls a list of kernels ({"class", "launches", "work"}), or None: not known."""
    with tempfile.TemporaryDirectory() as folder:
        calls = pathlib.Path(folder) / "calls.json"
        calls.write_text(json.dumps({key: document[key] for key in ("ops", "specs", "calls")}))
        output = subprocess.run([program, "kernels", ROOT / "devices" / f"{device}.json", calls], text=True, capture_output=True,
                                check=True)
    return json.loads(output.stdout)


@functools.cache
def recorded_kernels(device, program=PROGRAM):
    """By point (family/operation/parameters, single/name/pass): the kernels of all its calls, or None where one is not known."""
    document = recorded_calls()
    of_calls = kernels_of(document, device, program)
    found = {}
    for point, calls in document["points"].items():
        known = all(of_calls[call] is not None for call in calls)
        found[point] = [kernel for call in calls for kernel in of_calls[call]] if known else None
    return found


def linear_layers(sizes, dtype, device, program=PROGRAM):
    """The kernels of a linear layer with a bias for each (m, n, k)."""
    specs, calls = [], []
    for m, n, k in sizes:
        first = len(specs)
        specs += [[dtype, [n], [1], 0, True], [dtype, [m, k], [k, 1], 0, True], [dtype, [k, n], [1, k], 0, True],
                  [dtype, [m, n], [n, 1], 0, True]]
        calls.append([0, [[place, first + place] for place in range(3)], [], [first + 3], [False, True]])
    return kernels_of({"ops": ["aten::addmm"], "specs": specs, "calls": calls}, device, program)
