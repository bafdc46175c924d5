"""Whole training steps: the trace of a step as columns, and its time without the profiler."""
import contextlib
import statistics
import time

import torch

from kernels import models, operators, profiling, steps_table

TIMED_STEPS, SMALL_TIMED_STEPS = 20, 2
WARM_UP_STEPS, SMALL_WARM_UP_STEPS = 5, 1
PROFILED_STEPS = 2


class Step:
    """One model with its inputs and optimizer, ready to run forward, backward and update."""

    def __init__(self, recipe, small, device):
        torch.manual_seed(0)
        torch.backends.cuda.matmul.allow_tf32 = False  # PyTorch's defaults
        torch.backends.cudnn.allow_tf32 = True
        with torch.device(device):  # a billion parameters are not initialized on the CPU
            module, inputs, self.loss_of = recipe.build(small, device)
        dtype = getattr(torch, recipe.dtype)
        layout = torch.channels_last if recipe.channels_last else torch.preserve_format
        self.module = module.to(device=device, dtype=dtype).to(memory_format=layout).train()
        self.inputs = {name: self.converted(x, dtype, layout) for name, x in inputs.items()}
        self.optimizer = models.optimizer_of(recipe.optimizer, list(self.module.parameters()))
        self.autocast = recipe.autocast
        self.device = device

    @staticmethod
    def converted(x, dtype, layout):
        if not x.is_floating_point():
            return x
        return x.to(dtype).to(memory_format=layout if x.dim() == 4 else torch.preserve_format)

    def precision(self):
        if self.autocast is None:
            return contextlib.nullcontext()
        return torch.autocast(self.device, dtype=getattr(torch, self.autocast))

    def forward(self):
        with self.precision():
            if "" in self.inputs:
                return self.loss_of(self.module(self.inputs[""]))
            return self.loss_of(self.module(**self.inputs))

    def run(self):
        with torch.profiler.record_function("phase/forward"):
            loss = self.forward()
        with torch.profiler.record_function("phase/backward"):
            loss.backward()
        with torch.profiler.record_function("phase/optimizer"):
            self.optimizer.step()
        with torch.profiler.record_function("phase/zero_grad"):
            self.optimizer.zero_grad(set_to_none=True)


def timed(step, count):
    """Times of `count` steps one behind the other: by events on the GPU, and on the CPU until the
    step's last call is enqueued. Without a GPU its times are null."""
    on_gpu = step.device == "cuda"
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)] if on_gpu else []
    cpu_ns = []
    with profiling.synchronized(step.device):
        if on_gpu:
            events[0].record()
        for index in range(count):
            start = time.perf_counter_ns()
            step.run()
            cpu_ns.append(time.perf_counter_ns() - start)
            if on_gpu:
                events[index + 1].record()
    gpu_ns = [round(a.elapsed_time(b) * 1e6) for a, b in zip(events, events[1:])] if on_gpu else []
    return {"steps": count, "step_ns": operators.spread(gpu_ns), "cpu_ns": operators.spread(cpu_ns),
            "all_step_ns": gpu_ns or None, "all_cpu_ns": cpu_ns}


def call_overhead(tables):
    """CPU time by outermost ATen call under the profiler: it adds about a microsecond to each."""
    columns = tables[0]["calls"]
    outermost = [ns for ns, parent in zip(columns["cpu_ns"], columns["parent"]) if parent < 0]
    return {"calls": len(outermost), "median_cpu_ns": round(statistics.median(outermost)),
            "sum_cpu_ns": sum(outermost)}


def profiled_tables(step):
    def work():
        for index in range(PROFILED_STEPS):
            with profiling.synchronized(step.device):
                with torch.profiler.record_function(f"step/{index}"):
                    step.run()
    trace = profiling.profiled(work, step.device, record_shapes=True)
    return [steps_table.reduce_step(trace, f"step/{index}") for index in range(PROFILED_STEPS)]


def measure(name, device, small, clocks):
    recipe = models.MODELS[name]
    row = {"model": name, "dtype": recipe.dtype, "autocast": recipe.autocast,
           "channels_last": recipe.channels_last, "optimizer": recipe.optimizer, "error": None}
    try:
        step = Step(recipe, small, device)
        for _ in range(SMALL_WARM_UP_STEPS if small else WARM_UP_STEPS):
            with profiling.synchronized(device):
                step.run()
        row["clocks_before"] = clocks.read()
        row["timed"] = timed(step, SMALL_TIMED_STEPS if small else TIMED_STEPS)
        row["clocks_after"] = clocks.read()
        row["profiled"] = profiled_tables(step)
        row["call_overhead"] = call_overhead(row["profiled"])
        row["inputs"] = {key: list(x.shape) for key, x in step.inputs.items()}
    except (ImportError, RuntimeError, AttributeError, ValueError, TypeError) as error:
        row["error"] = operators.short(error)
        if device == "cuda" and operators.context_lost():
            raise operators.StickyError(row, name) from error
    if device == "cuda":
        step = None
        torch.cuda.empty_cache()
    return row
