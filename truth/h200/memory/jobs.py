"""The jobs in their order, and how one runs in a process of its own."""
import dataclasses
import faulthandler
import importlib.metadata
import json
import os
import pathlib
import sys
import traceback
import zipfile

import torch

from .allocator_trace import DEVICE
from .cases import all_cases
from .exports import EXPORT_SECONDS, record_export
from .machine import first_line
from .models import MODELS
from .networks import leave_matrices_unfilled
from .probes.table import PROBES, PROBE_SECONDS, record_probe
from .record_case import record_case


@dataclasses.dataclass(frozen=True)
class Job:
    kind: str  # case, probe, export
    name: str
    what: object
    seconds: float

    @property
    def path(self):
        return f"{self.kind}-{self.name}.zip"


def all_jobs():
    """In the order of their worth, should the time not suffice."""
    cases = [Job("case", case.name, case, case.seconds) for case in all_cases()]
    base = [job for job in cases if job.what.variant in ("base", "again")]
    probes = [Job("probe", name, name, PROBE_SECONDS) for name in PROBES]
    exports = [Job("export", name, name, EXPORT_SECONDS) for name in
               (f"{model}-b{batch}-{dtype}" for model in MODELS for batch in MODELS[model].batches for dtype in ("fp32", "bf16"))]
    return base + probes + exports + [job for job in cases if job not in base]


def write_result(folder, job, record, files):
    """Whole or not at all: a process may be stopped at any time."""
    path = folder / job.path
    half = path.with_suffix(".half")
    with zipfile.ZipFile(half, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name, data in {"record.json": json.dumps(record).encode(), **files}.items():
            out.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)
    half.rename(path)


def failure(job, status, text):
    what = dataclasses.asdict(job.what) if job.kind == "case" else job.what
    return {job.kind: what, "status": status, "error": text}


RECORDERS = {"case": record_case, "probe": record_probe, "export": record_export}
SILENT_SECONDS = 25  # a process that takes longer prints where it stands


def run_job(job, folder, small, device_name, alone, connection):
    """The whole of one process."""
    preload(job.kind)
    faulthandler.dump_traceback_later(SILENT_SECONDS)
    DEVICE["alone"] = alone
    device = torch.device(device_name)
    if device.type == "cpu":
        torch.set_num_threads(1)

    def wait_for_device():
        connection.send("ready")
        connection.recv()

    try:
        record, files = RECORDERS[job.kind](job.what, small, device, wait_for_device)
    except torch.OutOfMemoryError as error:
        record, files = failure(job, "out of memory", first_line(error)), {}
    except Exception as error:
        record, files = failure(job, "error", first_line(error)), {}
        traceback.print_exc()
    write_result(pathlib.Path(folder), job, record, files)
    sys.stdout.flush()
    os._exit(0)  # without the destructors of the driver: the kernel returns the memory sooner


def define_torchvision_operators():
    """Lets a torchvision without its compiled operators be imported: no model here calls them."""
    if importlib.metadata.version("torch").endswith("+cpu"):
        library = torch.library.Library("torchvision", "FRAGMENT")
        define_torchvision_operators.library = library  # they live as long as it
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


PRELOADED = False


def preload(kind=None):
    """Imports what every process needs; a forked one finds it there."""
    global PRELOADED
    if PRELOADED:
        return
    PRELOADED = True
    leave_matrices_unfilled()
    if kind == "probe":
        return
    define_torchvision_operators()
    import timm  # noqa: F401
    import torchvision.models  # noqa: F401
    import transformers

    for name in ("BertForMaskedLM", "GPT2LMHeadModel", "T5ForConditionalGeneration", "LlamaForCausalLM",
                 "MistralForCausalLM", "Qwen2ForCausalLM", "MixtralForCausalLM", "CLIPModel",
                 "WhisperForConditionalGeneration"):
        getattr(transformers, name)


def status_of(folder, job):
    try:
        with zipfile.ZipFile(folder / job.path) as archive:
            return json.loads(archive.read("record.json"))["status"]
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None
