"""Holds docs/reference/json.md against the keys that the program writes.

    json_fields.py PROGRAM [unittest arguments]
"""
import json
import pathlib
import re
import tempfile
import unittest
import zipfile

import program
from program import DYNAMIC, ROOT, TINY

# Objects whose keys are the user's names, or dtypes, and those of formulas, documented in formulas.md.
ENGINE = "tests/engine/samples/resnet18_qat."
# A run on a GPU (truth/measured/record_runs.py), and its step.
GPU_RUN, GPU_STEP = "shipped-gpt2-fp32.json", ["models/gpt2.pt2", "--optimizer", "adamw:foreach"]
REPLAY = ["restore", "truth/dumps/plot_dump.onnx", "--replay", "tests/workbench/golden/models/gpt.onnx"]  # Another one.
MEASURED = ["profile", "models/resnet50.pt2", "--set", "batch=32", "--device", "v100", "--measured"]
TRACE = "truth/kineto/data/v100_resnet50_train.json.gz"
# Of programs in Python, whose JSON tests/python/test_steps.py reads.
OF_PROGRAMS = {"between_passes", "is_between", "other_steps"}
OPEN = {"sizes", "powers", "multiples_of", "at", "flops_per_second", "placed"}
COMMANDS = [
    ["profile", TINY, "--optimizer", "adamw", "--offload-saved", "*", "--time"],
    ["profile", "models/tiny/nonzero.pt2", "--unbacked", "max"],
    [*MEASURED, TRACE],
    [*MEASURED, TRACE, "--", TRACE],
    ["profile", "models/tiny/encoder.pt2", "--optimizer", "adamw", "--measured-memory", "truth/snapshots/settings/all.pickle.gz"],
    ["profile", DYNAMIC, "--symbolic", "x.0", "--optimizer", "adamw"],
    ["profile", DYNAMIC, "--symbolic", "x.0", "--time"],
    ["profile", "truth/parallel/models/small.pt2", "--parallel", "hsdp=2x2"],
    ["profile", "truth/parallel/models/small.pt2", "--parallel", "pp=2:gpipe:mb=2", "--time"],
    ["profile", "truth/parallel/models/collectives.onnx", "--mode", "inference", "--mesh", "4"],
    ["fit", TINY, "--device", "h200,t4"],
    ["fit", DYNAMIC, "--max", "x.0"],
    ["fit", TINY, "--samples", "1e6", "--deadline", "1d", "--price", "examples/prices.json"],
    ["plan checkpoint", "models/gpt2.pt2", "--device", "h100", "--budget", "4GiB"],
    ["plan throughput", "models/gpt2.pt2", "--device", "t4", "--budget", "4GiB"],
    ["plan parallel", "models/gpt2.pt2", "--device", "h100", "--mesh", "2x4"],
    ["devices"],
    ["ops"],
    ["ops", "--onnx"],
    ["engine", ENGINE + "graph.json", "--profile", ENGINE + "profile.json"],
    ["engine", "tests/engine/samples/mnist.graph.json", "--onnx", "tests/engine/samples/mnist.onnx",
     "--device", "h100-pcie", "--set", "N=1"],
    ["optimize", "tests/workbench/golden/models/cnn.onnx", "-o", "/dev/null", "--verify", "--savings"],
    ["compare", "tests/workbench/golden/models/cnn.onnx", "tests/workbench/golden/models/cnn.onnxslim.onnx"],
    ["profile", TINY, "--", "models/tiny/convnet.pt2"],
    ["dump", "tests/workbench/golden/models/llama.onnx", "--module", "", "--limit", "300", "-o", "/dev/null"],
    ["restore", "truth/dumps/values.onnx"],
    ["engine", ENGINE + "graph.json", "--", "tests/engine/samples/resnet18_qat-residual.graph.json"],
    ["memory", "tests/snapshot/attention_toy.pickle"],
    ["memory", "tests/fuzz/corpus/snapshot/oom"],
    ["memory", "tests/fuzz/corpus/snapshot/steps", "--", "tests/snapshot/attention_toy.pickle"],
]


def keys_of(value):
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    if not isinstance(value, dict):
        return set()
    inside = [keys_of(item) for key, item in value.items() if key not in OPEN]
    return set(value).union(*inside)


class Fields(unittest.TestCase):
    def test_the_page_names_what_is_written(self):
        page = set(re.findall(r"`([a-z0-9_]+)`", (ROOT / "docs/reference/json.md").read_text()))
        formulas = set(re.findall(r'"([a-z_]+)":', (ROOT / "docs/guide/formulas.md").read_text()))
        answers = [program.read(*command) for command in COMMANDS]
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder) / "run.json"
            answers.append(program.read("measure", TINY, "--steps", "1", "--save", str(run), "--trace", "/dev/null"))
            answers.append(json.loads(run.read_text()))
            with zipfile.ZipFile(ROOT / "truth" / "measured" / "h200.zip") as packed:
                run.write_bytes(packed.read(GPU_RUN))
            answers.append(json.loads(run.read_text()))
            answers.append(program.read("profile", *GPU_STEP, "--measured", str(run)))
        for device in ("cpu", "h100"):
            answers.append(json.loads((ROOT / "truth" / "measured" / f"{device}_kernels.json").read_text()))
        answers.append(program.read(*REPLAY, code=1))
        names = [*COMMANDS, "measure", "measure --save", "measure --device cuda --save", "profile --measured",
                 "calibrate --measurements", "calibrate --device cuda --measurements", REPLAY]
        for command, answer in zip(names, answers, strict=True):
            self.assertEqual(keys_of(answer) - page - formulas, set(), command)
        written = set(re.findall(r'"([a-z0-9_]+)"', json.dumps(answers)))
        unwritten = {name for name in page if "_" in name} - written - OF_PROGRAMS
        self.assertEqual(unwritten, set())


if __name__ == "__main__":
    program.main()
