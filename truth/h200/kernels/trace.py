"""Reads the Chrome trace that torch.profiler writes (Kineto's format) and reduces it. Needs no PyTorch.

What is used of the format (pytorch/kineto, libkineto/src/output_json.cpp and CuptiActivity.cpp):
complete events ("ph": "X") with ts and dur in microseconds, and the categories cpu_op (args
"External id", "Sequence number", "Fwd thread id", "Input Dims", "Input type"), user_annotation,
cuda_runtime and cuda_driver (args "correlation"), kernel, gpu_memcpy and gpu_memset (args
"correlation", "External id" of the innermost cpu_op open at the launch, "stream", "grid", "block",
"registers per thread", "shared memory", "bytes")."""
import bisect
import collections
import json

GPU_KINDS = {"kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}
LAUNCH_KINDS = ("cuda_runtime", "cuda_driver")

Work = collections.namedtuple(
    "Work", "kind name start_ns duration_ns stream correlation external grid block registers "
            "shared_bytes bytes_moved")
Call = collections.namedtuple(
    "Call", "name start_ns end_ns thread external sequence forward_thread dims types")
Range = collections.namedtuple("Range", "name start_ns end_ns thread")
Launch = collections.namedtuple("Launch", "name start_ns end_ns thread")
Trace = collections.namedtuple("Trace", "work calls ranges launches")


class TraceError(ValueError):
    pass


def nanoseconds(microseconds):
    return round(float(microseconds) * 1000)


def span(event):
    start = nanoseconds(event["ts"])
    return start, start + nanoseconds(event.get("dur", 0))


def work_of(event, kind):
    args = event.get("args", {})
    start, end = span(event)
    return Work(kind, event["name"], start, end - start, args.get("stream"),
                args.get("correlation"), args.get("External id"), tuple(args.get("grid", ())),
                tuple(args.get("block", ())), args.get("registers per thread"),
                args.get("shared memory"), args.get("bytes"))


def call_of(event):
    args = event.get("args", {})
    return Call(event["name"], *span(event), event["tid"], args.get("External id"),
                args.get("Sequence number"), args.get("Fwd thread id"), args.get("Input Dims"),
                args.get("Input type"))


def parse(document):
    """The events of one trace, each kind in order of its start."""
    if not isinstance(document, dict) or not isinstance(document.get("traceEvents"), list):
        raise TraceError("no list traceEvents: want a trace of torch.profiler's export_chrome_trace")
    work, calls, ranges, launches = [], [], [], {}
    for event in document["traceEvents"]:
        if event.get("ph") != "X":
            continue
        category = event.get("cat", "")
        if category in GPU_KINDS:
            work.append(work_of(event, GPU_KINDS[category]))
        elif category == "cpu_op":
            calls.append(call_of(event))
        elif category == "user_annotation":
            ranges.append(Range(event["name"], *span(event), event["tid"]))
        elif category in LAUNCH_KINDS:
            correlation = event.get("args", {}).get("correlation")
            launches.setdefault(correlation, Launch(event["name"], *span(event), event["tid"]))
    work.sort(key=lambda w: (w.start_ns, w.duration_ns))
    calls.sort(key=lambda c: (c.start_ns, -c.end_ns))
    ranges.sort(key=lambda r: r.start_ns)
    return Trace(work, calls, ranges, launches)


def load(path):
    with open(path) as file:
        return parse(json.load(file))


def work_by_range(trace, prefix):
    """{range: the GPU's work launched in it} for the ranges named `prefix`..., which do not overlap.
    The launch's time decides, on whatever thread: backward launches from autograd's own."""
    ranges = [r for r in trace.ranges if r.name.startswith(prefix)]
    starts = [r.start_ns for r in ranges]
    found = {r: [] for r in ranges}
    for work in trace.work:
        launch = trace.launches.get(work.correlation)
        if launch is None:
            continue
        place = bisect.bisect_right(starts, launch.start_ns) - 1
        if place >= 0 and launch.start_ns < ranges[place].end_ns:
            found[ranges[place]].append(work)
    return found


def busy_ns(work):
    """How long at least one of the intervals was running."""
    total, reached = 0, None
    for item in sorted(work, key=lambda w: w.start_ns):
        end = item.start_ns + item.duration_ns
        if reached is None or item.start_ns >= reached:
            total += item.duration_ns
            reached = end
        elif end > reached:
            total += end - reached
            reached = end
    return total


def overlap_ns(work, launchers=None):
    """Per stream, by how long work began before the work in front of it ended: (ns, pairs). `launchers`
    names for each item the library call that launched it, or None: two items of one such call may overlap."""
    last, overlap, pairs = {}, 0, 0
    launchers = launchers or [None] * len(work)
    for item, launcher in sorted(zip(work, launchers), key=lambda pair: pair[0].start_ns):
        end = item.start_ns + item.duration_ns
        before, before_launcher = last.get(item.stream, (item.start_ns, None))
        if item.start_ns < before and (launcher is None or launcher != before_launcher):
            overlap += min(before, end) - item.start_ns
            pairs += 1
        last[item.stream] = max((before, before_launcher), (end, launcher), key=lambda last_end: last_end[0])
    return overlap, pairs


def parents(calls):
    """For each call the index of the innermost call that contains it on its thread, or -1."""
    result, open_calls = [], collections.defaultdict(list)
    for index, call in enumerate(calls):
        stack = open_calls[call.thread]
        while stack and calls[stack[-1]].end_ns <= call.start_ns:
            stack.pop()
        result.append(stack[-1] if stack else -1)
        stack.append(index)
    return result


def innermost_call(calls, parent, by_thread, launch):
    """The innermost call that is open at the launch on the launch's thread, or -1."""
    starts, indices = by_thread.get(launch.thread, ((), ()))
    place = bisect.bisect_right(starts, launch.start_ns) - 1
    index = indices[place] if place >= 0 else -1
    while index >= 0 and calls[index].end_ns <= launch.start_ns:
        index = parent[index]
    return index


def attribute(calls, work, launches):
    """For each piece of work (call index or -1, "external", "launch" or "none")."""
    by_external = {c.external: i for i, c in enumerate(calls) if c.external is not None}
    by_thread = {}
    for index, call in enumerate(calls):
        starts, indices = by_thread.setdefault(call.thread, ([], []))
        starts.append(call.start_ns)
        indices.append(index)
    parent, result = parents(calls), []
    for item in work:
        if item.external in by_external:
            result.append((by_external[item.external], "external"))
            continue
        launch = launches.get(item.correlation)
        index = -1 if launch is None else innermost_call(calls, parent, by_thread, launch)
        result.append((index, "launch" if index >= 0 else "none"))
    return result
