"""torch.profiler around some work, and its trace."""
import contextlib
import os
import tempfile

from kernels import trace


@contextlib.contextmanager
def synchronized(device):
    import torch
    yield
    if device == "cuda":
        torch.cuda.synchronize()


def profiled(work, device, record_shapes=False):
    """Runs work() under torch.profiler: CUPTI's kernel times, and the CPU's side."""
    import torch  # noqa: F401
    from torch.profiler import ProfilerActivity, profile
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * (device == "cuda")
    with profile(activities=activities, record_shapes=record_shapes) as profiler:
        with synchronized(device):
            work()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        return trace.load(path)


def warm_up(device):
    """The first session loads CUPTI, which takes seconds: it measures nothing."""
    import torch
    profiled(lambda: torch.ones(1, device=device).add_(1), device)
