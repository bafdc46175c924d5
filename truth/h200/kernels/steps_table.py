"""One step of a trace as columns: ATen calls, and the kernels that each one launched."""
import collections
import json

from kernels import trace as traces


class Strings:
    """Each text once; columns hold its number."""

    def __init__(self):
        self.texts, self.numbers = [], {}

    def number(self, text):
        if text is None:
            return None
        if text not in self.numbers:
            self.numbers[text] = len(self.texts)
            self.texts.append(text)
        return self.numbers[text]


def phase_of(time, phases):
    for phase in phases:
        if phase.start_ns <= time < phase.end_ns:
            return phase.name.removeprefix("phase/")
    return None


def compact(value):
    return None if value is None else json.dumps(value, separators=(",", ":"))


def call_columns(calls, phases, origin, strings):
    columns = collections.defaultdict(list)
    for call, parent in zip(calls, traces.parents(calls)):
        columns["name"].append(strings.number(call.name))
        columns["parent"].append(parent)
        columns["phase"].append(strings.number(phase_of(call.start_ns, phases)))
        columns["sequence"].append(call.sequence)
        columns["thread"].append(strings.number(str(call.thread)))
        columns["forward_thread"].append(call.forward_thread)
        columns["start_ns"].append(call.start_ns - origin)
        columns["cpu_ns"].append(call.end_ns - call.start_ns)
        columns["input_sizes"].append(strings.number(compact(call.dims)))
        columns["input_dtypes"].append(strings.number(compact(call.types)))
    return dict(columns)


def kernel_columns(work, links, launches, origin, strings):
    columns = collections.defaultdict(list)
    for item, (call, how) in zip(work, links):
        launch = launches.get(item.correlation)
        columns["name"].append(strings.number(item.name))
        columns["kind"].append(strings.number(item.kind))
        columns["call"].append(call)
        columns["linked_by"].append(strings.number(how))
        columns["launch_ns"].append(None if launch is None else launch.start_ns - origin)
        columns["start_ns"].append(item.start_ns - origin)
        columns["duration_ns"].append(item.duration_ns)
        columns["stream"].append(item.stream)
        columns["grid"].append(strings.number(compact(item.grid)))
        columns["block"].append(strings.number(compact(item.block)))
        columns["registers"].append(item.registers)
        columns["shared_bytes"].append(item.shared_bytes)
        columns["bytes"].append(item.bytes_moved)
    return dict(columns)


def totals(work, links, step):
    """Null, not zero, where no GPU worked: then nothing is known about one."""
    result = {"cpu_ns": step.end_ns - step.start_ns, "kernel_count": len(work)}
    names = ("kernel_ns", "busy_ns", "span_ns", "idle_ns", "attributed_ns", "overlap_ns",
             "overlap_pairs")
    if not work:
        return {**result, **dict.fromkeys(names)}
    busy = traces.busy_ns(work)
    length = max(w.start_ns + w.duration_ns for w in work) - work[0].start_ns
    attributed = [w for w, (call, _) in zip(work, links) if call >= 0]
    overlap, pairs = traces.overlap_ns(work)
    values = (sum(w.duration_ns for w in work), busy, length, length - busy,
              sum(w.duration_ns for w in attributed), overlap, pairs)
    return {**result, **dict(zip(names, values))}


def reduce_step(trace, name):
    """The step whose range is called `name`; its phases are the ranges phase/... inside it."""
    found = [r for r in trace.ranges if r.name == name]
    if len(found) != 1:
        raise traces.TraceError(f"{len(found)} ranges are called {name}: want one")
    step = found[0]
    inside = [r for r in trace.ranges if step.start_ns <= r.start_ns and r.end_ns <= step.end_ns]
    phases = [r for r in inside if r.name.startswith("phase/")]
    calls = [c for c in trace.calls if step.start_ns <= c.start_ns < step.end_ns]
    work = traces.work_by_range(trace, name)[step]
    links = traces.attribute(calls, work, trace.launches)
    strings = Strings()
    return {
        "calls": call_columns(calls, phases, step.start_ns, strings),
        "kernels": kernel_columns(work, links, trace.launches, step.start_ns, strings),
        "totals": totals(work, links, step),
        "phases": {p.name.removeprefix("phase/"): p.end_ns - p.start_ns for p in phases},
        "strings": strings.texts,
    }
