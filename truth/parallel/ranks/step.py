"""One rank's steps, in a process of its own: what the allocator says of each."""
import time
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.tensor.parallel import loss_parallel

from ranks.engines import apply_engine
from ranks.models import CLASSES
from ranks.recorder import explain, make_recorder, nbytes

STEPS = 4


def local(t):
    return t.to_local() if hasattr(t, "to_local") else t


def held(tensors):
    return sum(nbytes(local(t)) for t in tensors if t is not None)


def make_inputs(m, batch):
    if m["class"] == "vit":
        return torch.empty(batch, 3, m["image"], m["image"], device="cuda"), torch.empty(batch, dtype=torch.long, device="cuda")
    return tuple(torch.empty(batch, m["sequence"], dtype=torch.long, device="cuda") for _ in range(2))


def make_store():
    class Store(dist.Store):
        """Holds what this rank sets; what another rank would have set is 128 zero bytes (a communicator's id)."""

        def __init__(self):
            super().__init__()
            self.values = {}

        def set(self, key, value):
            self.values[key] = value.encode() if isinstance(value, str) else bytes(value)

        def get(self, key):
            return self.values.get(key, bytes(128))

        def add(self, key, value):
            total = int(self.values.get(key, b"0")) + value
            self.values[key] = str(total).encode()
            return total

        def check(self, keys):
            return False

        def wait(self, *arguments):
            pass

        def set_timeout(self, timeout):
            pass

        def num_keys(self):
            return len(self.values)

        def delete_key(self, key):
            return self.values.pop(key, None) is not None

    return Store()


def probe_events():
    side = torch.cuda.Stream()
    x = torch.empty(4 << 20, dtype=torch.uint8, device="cuda")
    before = x.data_ptr()
    x.record_stream(side)
    del x
    taken_again = torch.empty(4 << 20, dtype=torch.uint8, device="cuda").data_ptr() == before
    return {"recorded block taken again": taken_again, "streams differ": side.cuda_stream != torch.cuda.Stream().cuda_stream}


def start_ranks(case):
    """This process is one rank of many, of a pipeline the first of its stage's."""
    config, of_stage = case["config"], case["config"].get("data_ranks", 1)
    ranks = {"rank": config.get("rank", 0) * of_stage, "world_size": config["world"] * of_stage}
    if case["mode"].startswith("fake"):
        from torch.testing._internal.distributed.fake_pg import FakeStore  # noqa: F401  registers the backend

        dist.init_process_group("fake", store=FakeStore(), **ranks)
    else:
        case["store"] = make_store()
        dist.init_process_group("nccl", store=case["store"], **ranks)


def loss_of_tokens(y, t):
    return F.cross_entropy(y.flatten(0, 1).float(), t.flatten())


class Steps:
    """The loop of a program. Its names are there until the next step gives them something else."""

    def __init__(self, case, model, schedule, optimizer, loss_of, m):
        self.config, self.mode, self.m = case["config"], case["mode"], m
        self.model, self.schedule, self.optimizer, self.loss_of = model, schedule, optimizer, loss_of

    def accumulate(self):
        """All but the last microbatch: gradients stay whole on each rank."""
        kind = self.config["kind"]
        for part in range(self.config.get("accumulate", 1) - 1):
            self.model.set_requires_gradient_sync(False) if kind == "fsdp" else None
            with self.model.no_sync() if kind == "ddp" else nullcontext():
                with torch.autocast("cuda", torch.bfloat16, enabled=bool(self.config.get("autocast"))):
                    self.inputs, self.target = make_inputs(self.m, self.m["batch"])
                    y = self.model(self.inputs)
                    self.loss = self.loss_of(y, self.target)
                    del y
                    self.loss.backward()
        if self.config.get("accumulate", 1) > 1 and kind == "fsdp":
            self.model.set_requires_gradient_sync(True)

    def run(self, note):
        with note or nullcontext():
            self.optimizer.zero_grad(set_to_none=self.config.get("set_to_none", True))
            self.accumulate()
            self.inputs, self.target = make_inputs(self.m, self.m["batch"])
            self.run_schedule(note) if self.schedule else self.run_passes(note)
            if note:
                note.phase = "optimizer"
            if self.config.get("clip"):
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config["clip"])
            self.optimizer.step()
        if self.config["kind"] in ("ddp", "pp"):  # as a loop that reads its loss, and steps longer than the NCCL watchdog's period of 100 ms
            torch.cuda.synchronize()
            time.sleep(0 if self.mode in ("fake/done", "nccl/hurry") else 0.25)

    def run_schedule(self, note):
        rank, world = self.config.get("rank", 0), self.config["world"]
        self.losses = []
        if note:
            note.phase = "step"
        self.schedule.step(*([self.inputs] if rank == 0 else []), **({"target": self.target, "losses": self.losses} if rank == world - 1 else {}))

    def run_passes(self, note):
        with loss_parallel() if self.config.get("loss") else nullcontext():
            with torch.autocast("cuda", torch.bfloat16, enabled=bool(self.config.get("autocast"))):
                y = self.model(self.inputs)
                self.loss = self.loss_of(y, self.target)
            del y
            if note:
                note.phase = "backward"
            self.loss.backward()


def names_of_streams(model, config):
    names = {0: "compute"}
    if config["kind"] in ("fsdp", "hsdp", "fsdp_tp", "ddp_tp") or config.get("data") == "fsdp":
        context = model._get_fsdp_state()._comm_ctx
        names |= {getattr(context, f"{n}_stream").cuda_stream: n for n in ("all_gather_copy_in", "all_gather", "reduce_scatter", "all_reduce")}
    return names


def run_case(case):
    if case["config"] is None:
        return probe_events()
    config, m, traced = case["config"], case["model"], case["mode"].endswith("traced")
    m = {**m, "batch": config.get("batch", m["batch"])}
    torch.cuda.set_device(0)
    if config.get("allocator"):
        torch._C._accelerator_setAllocatorSettings(config["allocator"])
    if config["kind"] != "none":
        start_ranks(case)
    if traced:
        torch.cuda.memory._record_memory_history(enabled="all", context="all", stacks="python", max_entries=2_000_000)
    with torch.device("meta"):
        model = CLASSES[m["class"]](m)
    loss_of = F.cross_entropy if m["class"] == "vit" else loss_of_tokens
    model, schedule = apply_engine(model, m, config, loss_of, case["mode"].startswith("fake"))
    name, implementation = case["optimizer"].split(":")
    groups = [[p for p in model.parameters() if hasattr(p, "to_local") == is_sharded] for is_sharded in (False, True)]
    optimizer = torch.optim.AdamW([{"params": g} for g in groups if g], **{implementation: True})  # foreach refuses a mixture
    loop = Steps(case, model, schedule, optimizer, loss_of, m)
    recorder = make_recorder() if traced else None
    steps, marks = [], []
    for step in range(STEPS):
        torch.cuda.reset_peak_memory_stats()
        loop.run(None)
        stats = torch.cuda.memory_stats()
        steps.append({key: stats[f"{where}_bytes.all.{when}"] for key, where, when in (
            ("peak_allocated", "allocated", "peak"), ("end_allocated", "allocated", "current"), ("peak_active", "active", "peak"),
            ("peak_reserved", "reserved", "peak"), ("end_reserved", "reserved", "current"))})
        marks.append(len(torch.cuda.memory._snapshot()["device_traces"][0]) if traced else 0)
    states = [t for s in optimizer.state.values() for k, t in s.items()]
    found = {"peak_allocated": max(s["peak_allocated"] for s in steps), "peak_reserved": max(s["peak_reserved"] for s in steps), "steps": steps,
             "held": {"parameters": held(model.parameters()), "gradients": held([p.grad for p in model.parameters()]),
                      "optimizer": held([t for t in states if local(t).is_cuda])}}
    if traced:  # one more step for the recorder: it keeps arguments alive a little longer
        trace = torch.cuda.memory._snapshot()["device_traces"][0]
        loop.run(recorder)
        found.update(explain(trace, marks, recorder, names_of_streams(model, config), case.get("events")))
    return found
