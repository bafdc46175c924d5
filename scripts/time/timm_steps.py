"""Steps of timm's public benchmark, as the program predicts them: exported files, measured times, kernels by kind."""
import concurrent.futures
import csv
import dataclasses
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MARK = "\n## Whole steps of vision models\n"  # Their part of docs/evaluation/time_accuracy.md, its last, begins so.


@dataclasses.dataclass(frozen=True)
class Setup:
    """A table of the benchmark: what was run, and how it is asked for."""
    title: str
    configuration: str  # Of timm_configs.csv.
    device: str
    is_training: bool
    file: str  # The column of families.csv with the form of a model that was run (export_timm.py).

    @property
    def options(self):
        if not self.is_training:
            return ["--mode", "inference", "--autocast", "fp16"]
        return ["--mode", "train", "--loss", "cross_entropy", "--autocast", "fp16", "--optimizer", "sgd_momentum:single"]


# Under autocast to fp16, in NCHW. Training was measured with PyTorch 1.12, inference with 2.4 (RTX 3090) and 2.9 (4090).
SETUPS = [Setup("training, RTX 3090", "1", "rtx3090", True, "training_file"),
          Setup("inference, RTX 3090", "7", "rtx3090", False, "file"),
          Setup("inference, RTX 4090", "12", "rtx4090", False, "file_4090")]


@dataclasses.dataclass
class Step:
    model: str
    family: str
    batch: int
    measured_ms: float
    answer: dict  # As `profiled` gives it: of the data sheet alone, or a "problem".


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def kernels_of(answer):
    """Milliseconds of the device by kernel: class and kind of each call's longest."""
    sums = {}
    for node in answer["nodes"]:
        for call in node["calls"]:
            if call.get("time_us"):
                sums[call["kernel"]] = sums.get(call["kernel"], 0) + call["time_us"] / 1e3
    return sums


def profiled(program, path, batch, setup, device):
    ran = subprocess.run([program, "profile", path, "--set", f"batch={batch}", *setup.options, "--device", device,
                          "--time", "--format", "json"], capture_output=True, text=True)
    if ran.returncode != 0:
        return {"problem": ran.stderr.strip().splitlines()[0][:240]}
    answer = json.loads(ran.stdout)
    time = answer["time"]
    return {"step_ms": answer["totals"]["step_time_us"] / 1e3, "kernels": kernels_of(answer),
            "host_ms": time["host_time_us"] / 1e3, "idle_ms": time["idle_time_us"] / 1e3, "unknown": time["unknown_ops"]}


def kept(program, path, batch, setup, device):
    """The answer, kept beside the exported file until that or the program is newer."""
    cache = path.parent / "answers" / f"{path.stem}_{setup.configuration}.json"
    newest = max(pathlib.Path(program).stat().st_mtime, path.stat().st_mtime)
    if cache.exists() and cache.stat().st_mtime > newest:
        return json.loads(cache.read_text())
    answer = profiled(program, path, batch, setup, device)
    cache.parent.mkdir(exist_ok=True)
    cache.write_text(json.dumps(answer))
    return answer


def without_factors(device, folder):
    """A device file whose kernels have the data sheet's times."""
    spec = json.loads((ROOT / "devices" / f"{device}.json").read_text())
    spec.pop("kernel_times", None)
    spec.pop("kernel_clocks", None)
    path = pathlib.Path(folder) / f"{device}.json"
    path.write_text(json.dumps(spec))
    return path


def steps_of(setup, data, exported, program, workers=2):
    """All steps of a setup whose model was exported, with the times of the data sheet."""
    measured = {(row["model"], row["img_size"]): row for row in read(pathlib.Path(data) / "timm_steps.csv")
                if row["cfg"] == setup.configuration}
    rows = [row for row in read(pathlib.Path(exported) / "families.csv") if (row["model"], row["img_size"]) in measured]
    rows = [row for row in rows if (pathlib.Path(exported) / row[setup.file]).exists()]
    with tempfile.TemporaryDirectory() as folder:
        device = without_factors(setup.device, folder)

        def step(row):
            truth = measured[row["model"], row["img_size"]]
            path = pathlib.Path(exported) / row[setup.file]
            answer = kept(program, path, truth["batch_size"], setup, device)
            return Step(f"{row['model']}, {row['img_size']}", row["family"], int(truth["batch_size"]),
                        float(truth["step_ms"]), answer)

        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            return list(pool.map(step, rows))
