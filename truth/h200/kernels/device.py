"""What the device itself can do: bandwidth by working set, peak rates, launches, the host's link."""
import statistics
import time

import torch

from kernels import operators, profiling
from kernels import trace as traces

MIB = 1 << 20
WORKING_SETS = [1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 96, 128, 256, 1024, 4096]  # MiB
TRANSFERS = [4 << 10, 64 << 10, MIB, 16 * MIB, 256 * MIB, 1024 * MIB]             # bytes
PRODUCT = 8192
REPEATS = 20
LAUNCHES = 2000


def bandwidth_calls(small, device):
    """(name, bytes read and written, FLOPs, call): copies, reads and writes of growing buffers."""
    for size in WORKING_SETS[:2] if small else WORKING_SETS:
        count = size * MIB // 4
        x = torch.randn(count, device=device)
        half = count // 2
        yield f"copy/{size}MiB", 2 * half * 4, 0, lambda: x[:half].copy_(x[half:2 * half])
        yield f"read/{size}MiB", count * 4, 0, lambda: x.amax()
        yield f"write/{size}MiB", count * 4, 0, lambda: x.fill_(1.0)


def product_calls(small, device):
    size = 64 if small else PRODUCT
    for name in ("float32", "tf32", "bfloat16", "float16"):
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        dtype = torch.float32 if name == "tf32" else getattr(torch, name)
        a = torch.randn(size, size, device=device).to(dtype)
        b = torch.randn(size, size, device=device).to(dtype)
        yield f"product/{name}", 0, 2 * size ** 3, lambda: a @ b
    torch.backends.cuda.matmul.allow_tf32 = False
    if device == "cuda":
        a = torch.randn(size, size, device=device).to(torch.float8_e4m3fn)
        one = torch.ones((), device=device)
        yield "product/float8_e4m3fn", 0, 2 * size ** 3, lambda: torch._scaled_mm(
            a, a.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)


def transfer_calls(small, device):
    for size in TRANSFERS[:2] if small else TRANSFERS:
        on_device = torch.empty(size, dtype=torch.uint8, device=device)
        for kind, pinned in (("pageable", False), ("pinned", device == "cuda")):
            host = torch.empty(size, dtype=torch.uint8, pin_memory=pinned).fill_(1)
            yield f"host_to_device/{kind}/{size}", size, 0, lambda: on_device.copy_(host, non_blocking=True)
            yield f"device_to_host/{kind}/{size}", size, 0, lambda: host.copy_(on_device, non_blocking=True)


def run_named(name, call, walls, device):
    for _ in range(3):
        call()
    for repeat in range(REPEATS):
        with profiling.synchronized(device):
            pass  # nothing may still be running: the wall time is this call's own
        start = time.perf_counter_ns()
        with torch.profiler.record_function(f"device/{name}/{repeat}"):
            call()
        with profiling.synchronized(device):
            pass
        walls.setdefault(name, []).append(time.perf_counter_ns() - start)


def measured(maker, small, device):
    """One row for each call that `maker` yields: GPU times by CUPTI, wall times by the host."""
    facts, walls, found = {}, {}, {}

    def work():
        operators.warm_clocks(device)
        for name, moved, flops, call in maker(small, device):
            facts[name] = (moved, flops)
            run_named(name, call, walls, device)
    trace = profiling.profiled(work, device)
    for interval, launched in traces.work_by_range(trace, "device/").items():
        name = interval.name.removeprefix("device/").rsplit("/", 1)[0]
        found.setdefault(name, []).append(sum(w.duration_ns for w in launched) or None)
    return [row(name, *facts[name], found.get(name, []), walls[name]) for name in facts]


def row(name, moved, flops, times, walls):
    gpu_ns = operators.spread([t for t in times if t])
    median = gpu_ns["median"]
    return {"name": name, "bytes": moved, "flops": flops, "gpu_ns": gpu_ns,
            "wall_ns": operators.spread(walls),
            "bytes_per_second": moved / median * 1e9 if moved and median else None,
            "flops_per_second": flops / median * 1e9 if flops and median else None}


def launch_times(small, device):
    """A kernel of one element, again and again, without the profiler: the CPU's time for a call, and
    the GPU's time from one to the next, launched one by one and as one CUDA graph."""
    count = 20 if small else LAUNCHES
    x = torch.zeros(1, device=device)

    def enqueue():
        for _ in range(count):
            x.add_(1)
    enqueue()
    with profiling.synchronized(device):
        start = time.perf_counter_ns()
        enqueue()
        cpu_ns = time.perf_counter_ns() - start
    gpu_ns = graph_ns = None
    if device == "cuda":
        gpu_ns = events_ns(enqueue) / count
        graph_ns = events_ns(graph_of(enqueue).replay) / count
    return {"launches": count, "cpu_ns_per_call": cpu_ns / count, "gpu_ns_per_call": gpu_ns,
            "gpu_ns_per_call_in_graph": graph_ns}


def graph_of(work):
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        work()
    return graph


def events_ns(work):
    times = []
    for _ in range(7):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        work()
        last.record()
        torch.cuda.synchronize()
        times.append(first.elapsed_time(last) * 1e6)
    return statistics.median(times)


def launch_latency(device):
    """Under CUPTI: how long cudaLaunchKernel takes, from its start to the kernel's start on an idle
    GPU, and from the end of one kernel to the start of the next one in a full queue."""
    x = torch.zeros(1, device=device)

    def work():
        for _ in range(50):
            with profiling.synchronized(device):
                with torch.profiler.record_function("latency/idle"):
                    x.add_(1)
        big = torch.zeros(256 * MIB if device == "cuda" else 16, device=device)
        with torch.profiler.record_function("latency/queue"):
            for _ in range(20):
                big.add_(1)  # fills the queue: the short kernels behind wait for their turn
            for _ in range(200):
                x.add_(1)
    trace = profiling.profiled(work, device)
    idle, queued = [], []
    for interval, launched in traces.work_by_range(trace, "latency/").items():
        (idle if interval.name == "latency/idle" else queued).extend(launched)
    queued = queued[20:]
    launches = [trace.launches[w.correlation] for w in idle]
    return {"launch_call_ns": operators.spread([c.end_ns - c.start_ns for c in launches]),
            "launch_to_start_ns": operators.spread(
                [w.start_ns - c.start_ns for w, c in zip(idle, launches)]),
            "gap_in_queue_ns": operators.spread(
                [b.start_ns - a.start_ns - a.duration_ns for a, b in zip(queued, queued[1:])]),
            "short_kernel_ns": operators.spread([w.duration_ns for w in queued])}


def measure(device, small, clocks):
    return {"clocks_before": clocks.read(),
            "bandwidth": measured(bandwidth_calls, small, device),
            "products": measured(product_calls, small, device),
            "transfers": measured(transfer_calls, small, device),
            "launches": launch_times(small, device), "latency": launch_latency(device),
            "clocks_after": clocks.read()}
