"""Measures points of the sweep: kernel times by CUPTI through torch.profiler."""
import collections
import statistics
import time

from kernels import memory, profiling
from kernels import points as sweep
from kernels import trace as traces

WARM_UP = 2
REPEATS = (7, 25)        # at least, at most
REPEATS_OF_MANY = (3, 5)  # recurrent layers: hundreds of kernels a call
REPEAT_SECONDS = 0.02    # how long the repeats of one point may take, above the least number
FLUSH_BYTES = 256 << 20  # several times the L2
WARM_CLOCK_SECONDS = 0.05
NO_CLOCKS = dict.fromkeys(("sm_mhz", "memory_mhz", "temperature_c", "power_w"))


class StickyError(RuntimeError):
    """The CUDA context is lost: the process must end. `row` says so of what was running, so that the
    next command goes on behind it."""

    def __init__(self, row, name):
        super().__init__(f"{name}: {row['error']}: the GPU's context is lost; run the same command again")
        self.row = row


def short(error):
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]


def warm_clocks(device):
    """The clocks fall while a trace is written and read: work until they are up again."""
    import torch
    if device != "cuda":
        return
    a = torch.randn(4096, 4096, device=device, dtype=torch.bfloat16)
    end = time.perf_counter() + WARM_CLOCK_SECONDS
    while time.perf_counter() < end:
        a @ a
        torch.cuda.synchronize()


def prepare(point, device):
    import torch
    tf32 = point.parameters.get("dtype") == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = tf32
    torch.backends.cudnn.allow_tf32 = tf32
    torch.manual_seed(0)
    family = sweep.FAMILIES[point.family]
    return family.OPERATIONS[point.operation](point.parameters, device)


def repeats_for(call, device, least_and_most):
    for _ in range(WARM_UP):
        with profiling.synchronized(device):
            call()
    start = time.perf_counter()
    with profiling.synchronized(device):
        call()
    once = time.perf_counter() - start
    least, most = least_and_most
    return max(least, min(most, int(REPEAT_SECONDS / max(once, 1e-6))))


def run_point(index, point, device, flush, asked):
    """Runs one point's calls, each in a range point/<index>/<repeat>; gives None or what went wrong. `asked[index]`:
    what a call asks of the allocator."""
    import torch
    try:
        call = prepare(point, device)
        repeats = repeats_for(call, device, REPEATS_OF_MANY if point.family == "recurrent" else REPEATS)
        asked[index] = memory.measured(call, device)
        for repeat in range(repeats):
            if point.cache == "flushed":
                flush.zero_()
            with torch.profiler.record_function(f"point/{index}/{repeat}"):
                call()
        with profiling.synchronized(device):
            del call
    except Exception as error:  # an operator that this build lacks, or too little memory: a row says so
        if device == "cuda" and context_lost():
            row = row_of(point, [], short(error), device, (NO_CLOCKS, NO_CLOCKS))
            raise StickyError(row, sweep.key(point)) from error
        return short(error)
    return None


def timed_alone(point, device):
    """A call's time without the profiler, in a row of calls: on the GPU by events, and on the host. For calls of many
    small kernels, which wait for their launches."""
    import torch
    if device != "cuda" or point.family != "recurrent":
        return {}
    try:
        call = prepare(point, device)
        count = max(3, repeats_for(call, device, REPEATS_OF_MANY))
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        start = time.perf_counter_ns()
        for _ in range(count):
            call()
        host_ns = (time.perf_counter_ns() - start) // count
        last.record()
        torch.cuda.synchronize()
        return {"alone_ns": round(first.elapsed_time(last) * 1e6 / count), "alone_host_ns": host_ns}
    except Exception:  # the point's own row says why
        return {}


def context_lost():
    import torch
    try:
        torch.cuda.synchronize()
        return False
    except RuntimeError:
        return True


def measure_batch(batch, device, clocks):
    """One profiler session over a batch of points; gives one row for each."""
    import torch
    flush = torch.empty(FLUSH_BYTES if device == "cuda" else 1 << 16, dtype=torch.uint8,
                        device=device)
    errors, asked = {}, {}
    warm_clocks(device)
    before = clocks.read()

    alone = [timed_alone(point, device) for point in batch]

    def work():
        for index, point in enumerate(batch):
            errors[index] = run_point(index, point, device, flush, asked)
    trace = profiling.profiled(work, device)
    after = clocks.read()
    found = collections.defaultdict(list)
    for interval, launched in traces.work_by_range(trace, "point/").items():
        found[int(interval.name.split("/")[1])].append((interval, launched))
    if device == "cuda":
        del flush
        torch.cuda.empty_cache()
    return [row_of(point, found[index], errors[index], device, (before, after), {**asked.get(index, {}), **alone[index]})
            for index, point in enumerate(batch)]


def spread(values):
    """Median, quartiles, ends of a list, in whole nanoseconds; null where nothing was measured."""
    if not values:
        return dict.fromkeys(("median", "low_quartile", "high_quartile", "least", "most"))
    ordered = sorted(values)
    last = len(ordered) - 1
    return {"median": round(statistics.median(ordered)), "low_quartile": ordered[round(0.25 * last)],
            "high_quartile": ordered[round(0.75 * last)], "least": ordered[0], "most": ordered[-1]}


def signature(launched):
    return tuple((w.kind, w.name, w.grid, w.block) for w in launched)


def span_ns(launched):
    """From the first start to the last end."""
    return max(w.start_ns + w.duration_ns for w in launched) - min(w.start_ns for w in launched)


def kernel_rows(repeats):
    """The kernels of one call, in order, with the spread of each one's time over the repeats."""
    result = []
    for place, item in enumerate(repeats[0]):
        times = spread([launched[place].duration_ns for launched in repeats])
        result.append({
            "kind": item.kind, "name": item.name, "grid": list(item.grid),
            "block": list(item.block), "registers": item.registers,
            "shared_bytes": item.shared_bytes, "bytes": item.bytes_moved,
            "median_ns": times["median"], "least_ns": times["least"], "most_ns": times["most"]})
    return result


def row_of(point, found, error, device, clocks, asked=()):
    """`kernels` are those of the repeats with the most frequent sequence; `sequences` counts how
    many different ones there were, 1 for nearly every operator."""
    intervals = [interval for interval, _ in found]
    repeats = [sorted(launched, key=lambda w: w.correlation) for _, launched in found if launched]
    row = {"key": sweep.key(point), "family": point.family, "operation": point.operation,
           "parameters": point.parameters, "cache": point.cache, "repetition": point.repetition,
           "flops": point.flops, "bytes_moved": point.bytes_moved, "error": error,
           "repeats": len(found), "kernel_ns": None, "kernels": [], "sequences": None,
           "cpu_ns": spread([i.end_ns - i.start_ns for i in intervals]),
           "clocks_before": clocks[0], "clocks_after": clocks[1], "busy_ns": None, "span_ns": None, **dict(asked)}
    if device != "cuda" or error or not repeats:
        row["kernel_ns"] = spread([])
        return row
    sequences = collections.Counter(map(signature, repeats))
    usual = sequences.most_common(1)[0][0]
    repeats = [launched for launched in repeats if signature(launched) == usual]
    row.update(sequences=len(sequences), kernels=kernel_rows(repeats), repeats=len(repeats),
               kernel_ns=spread([sum(w.duration_ns for w in launched) for launched in repeats]),
               busy_ns=spread([traces.busy_ns(launched) for launched in repeats])["median"],
               span_ns=spread([span_ns(launched) for launched in repeats])["median"])
    return row
