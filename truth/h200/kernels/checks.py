"""What must hold of a record. Each check gives a list of complaints: where, what was found, what was
wanted. Needs no PyTorch."""
import collections

from kernels import storage
from kernels import trace as traces

ATTRIBUTED_SHARE = 0.99      # of the GPU's busy time in each whole step
REPEAT_SPREAD = 0.05         # two measurements of a point differ by no more than this share,
REPEAT_NS = 500              # or this much, for kernels of a few microseconds;
# so many of all pairs must. A kernel that is repeated minutes later, on operands at other addresses, can take up to 13 %
# more or less (a product of 2048, a batch norm's backward), while the 25 repeats at one address agree within 2 %.
REPEAT_AGREEING = 0.9
STEP_SPREAD = 0.06           # two profiled steps of a model, by the time that the device is busy
CLOCK_STEP_NS = 1000         # CUPTI maps the GPU's clock to the CPU's: launch and start may differ
LARGEST_RECORD_BYTES = 40 * 10 ** 6
MEASURED_POINTS = 2500       # of a sweep's about 3 400: some backends refuse some sizes
TINY_POINTS = 800            # of the third sweep's 843
TIMED_STEPS = 20
NOMINAL_BYTES_PER_SECOND = 4.8e12  # NVIDIA H200 data sheet
BANDWIDTH_BEYOND_L2_MIB = 1024
SAMPLES = ("least", "low_quartile", "median", "high_quartile", "most")


def expect(holds, complaints, text):
    if not holds:
        complaints.append(text)


def ordered(values):
    known = [v for v in values if v is not None]
    return len(known) in (0, len(values)) and known == sorted(known)


def check_points(document, on_gpu):
    """Kernel times of a point add up; its order statistics are in order; nothing is invented."""
    complaints, sums = [], collections.defaultdict(lambda: [0, 0, 0])
    for kernel in storage.table(document["kernels"]):
        total = sums[kernel["point"]]
        total[0] += 1
        total[1] += kernel["least_ns"]
        total[2] += kernel["most_ns"]
    for place, point in enumerate(storage.table(document["points"])):
        where, (count, least, most) = point["key"], sums[place]
        times = [point[f"kernel_ns_{name}"] for name in SAMPLES]
        expect(ordered(times), complaints, f"{where}: times {times}, want them in order")
        expect(count == point["kernels"], complaints,
               f"{where}: {count} kernels in the table, want {point['kernels']}")
        if point["error"] is not None or not on_gpu:
            expect(times[0] is None, complaints, f"{where}: a time without a measurement")
        elif times[0] is None:
            complaints.append(f"{where}: no kernel was seen, and no error says why")
        else:
            expect(least <= times[0] and times[-1] <= most and least <= times[2] <= most, complaints,
                   f"{where}: the call takes {times} ns, its kernels {least} to {most}")
    return complaints


def repeat_pairs(document):
    """(key, first, second) of the points that were measured twice."""
    by_key = {}
    for point in storage.table(document["points"]):
        if point["kernel_ns_median"] is not None:
            by_key[point["key"]] = point["kernel_ns_median"]
    for key, second in by_key.items():
        base, repetition = key.rsplit("/", 1)
        if repetition == "1" and f"{base}/0" in by_key:
            yield base, by_key[f"{base}/0"], second


def agrees(first, second):
    return abs(first - second) <= max(REPEAT_NS, REPEAT_SPREAD * min(first, second))


def check_repeats(document):
    pairs = list(repeat_pairs(document))
    differ = [pair for pair in pairs if not agrees(*pair[1:])]
    if not pairs:
        return ["operators: no point was measured twice"]
    if len(differ) <= (1 - REPEAT_AGREEING) * len(pairs):
        return []
    return [f"operators: {len(differ)} of {len(pairs)} repeated points differ by more than "
            f"{REPEAT_SPREAD:.0%}: " + "; ".join(f"{k} {a} {b}" for k, a, b in differ[:5])]


def check_operators(document, on_gpu, least=MEASURED_POINTS):
    complaints = check_points(document, on_gpu)
    if on_gpu:
        complaints += check_repeats(document)
        measured = sum(t is not None for t in document["points"]["kernel_ns_median"])
        expect(measured >= least, complaints, f"operators: {measured} points have times, want {least}")
    return complaints


def work_of(kernels):
    rows = storage.table(kernels)
    return [traces.Work(None, None, row["start_ns"], row["duration_ns"], row["stream"], None, None,
                        None, None, None, None, None) for row in rows]


def check_calls(where, calls):
    complaints = []
    for index, parent in enumerate(calls.get("parent", [])):
        if parent < 0:
            continue
        start, outer = calls["start_ns"][index], calls["start_ns"][parent]
        inside = outer <= start <= outer + calls["cpu_ns"][parent]
        expect(parent < index and inside, complaints,
               f"{where}: call {index} is not inside its parent {parent}")
    return complaints


# Kernels of cuBLASLt and cuDNN, which launch the next kernel of their call before one has ended
# (programmatic dependent launch).
LIBRARY_KERNELS = ("nvjet", "cublasLt", "cudnn", "xmma", "cutlass")


def inside_of_a_library(table):
    """The call of each kernel that cuBLAS or cuDNN launched, None for the others; in the order of the table."""
    strings, kernels = table["strings"], table["kernels"]
    names = [strings[name] for name in kernels["name"]]
    return [call if any(part in name for part in LIBRARY_KERNELS) else None
            for call, name in zip(kernels["call"], names)]


def check_kernels(where, table):
    """Kernel times of a step add up; on one stream no kernel starts before the last one ended."""
    kernels, totals, complaints = table["kernels"], table["totals"], []
    work = work_of(kernels)
    by_call = collections.Counter()
    for call, duration in zip(kernels["call"], kernels["duration_ns"]):
        by_call[call] += duration
    attributed = sum(time for call, time in by_call.items() if call >= 0)
    busy = traces.busy_ns(work)
    overlap, pairs = traces.overlap_ns(work, inside_of_a_library(table))
    found = {"kernel_count": len(work), "kernel_ns": sum(by_call.values()), "busy_ns": busy,
             "attributed_ns": attributed, "idle_ns": totals["span_ns"] - busy}
    for name, value in found.items():
        expect(totals[name] == value, complaints,
               f"{where}: {name} is {totals[name]}, the kernels give {value}")
    expect(overlap == 0, complaints, f"{where}: {pairs} kernels start before the one in front on "
                                     f"their stream ended, by {overlap} ns together: want no negative gap")
    expect(attributed >= ATTRIBUTED_SHARE * busy, complaints,
           f"{where}: {attributed} of {busy} busy ns belong to a call, want {ATTRIBUTED_SHARE:.0%}")
    early = sum(launch is not None and start + CLOCK_STEP_NS < launch
                for launch, start in zip(kernels["launch_ns"], kernels["start_ns"]))
    expect(early == 0, complaints, f"{where}: {early} kernels start before their launch")
    calls = len(table["calls"].get("name", []))
    expect(all(-1 <= call < calls for call in by_call), complaints,
           f"{where}: a kernel belongs to a call that is not there; there are {calls}")
    return complaints


def check_step(where, table, on_gpu):
    complaints = check_calls(where, table["calls"])
    if table["totals"]["kernel_count"]:
        return complaints + check_kernels(where, table)
    expect(not on_gpu, complaints, f"{where}: no kernel was seen")
    expect(table["totals"]["busy_ns"] is None, complaints, f"{where}: busy time without a kernel")
    return complaints


def check_timed(where, timed, tables, on_gpu):
    complaints = []
    times = [timed["step_ns"][name] for name in SAMPLES]
    expect(ordered(times), complaints, f"{where}: step times {times}, want them in order")
    if not on_gpu:
        expect(times[0] is None, complaints, f"{where}: step times of a GPU without one")
        return complaints
    expect(timed["steps"] >= TIMED_STEPS and times[0] is not None, complaints,
           f"{where}: {timed['steps']} timed steps, want {TIMED_STEPS}")
    busy = [table["totals"]["busy_ns"] or 0 for table in tables]
    expect(max(busy) - min(busy) <= max(REPEAT_NS, STEP_SPREAD * min(busy)), complaints,
           f"{where}: profiled steps are busy for {busy} ns, want them to agree")
    return complaints


def check_steps(document, on_gpu):
    complaints = []
    for row in document["models"]:
        if row["error"] is not None:
            complaints.append(f"{row['model']}: not recorded: {row['error']}")
            continue
        for index, table in enumerate(row["profiled"]):
            complaints += check_step(f"{row['model']} step {index}", table, on_gpu)
        complaints += check_timed(row["model"], row["timed"], row["profiled"], on_gpu)
    return complaints + ([] if document["models"] else ["steps: no model was recorded"])


def check_device(document, on_gpu):
    complaints = [] if document["runs"] else ["device: nothing was recorded"]
    for run in document["runs"]:
        for row in run["bandwidth"] + run["products"] + run["transfers"]:
            measured = row["gpu_ns"]["median"] is not None
            expect(measured == on_gpu, complaints, f"device {row['name']}: GPU time "
                                                   f"{row['gpu_ns']['median']}")
        for row in run["bandwidth"]:
            mebibytes = int(row["name"].split("/")[1].removesuffix("MiB"))
            rate = row["bytes_per_second"]
            expect(not on_gpu or mebibytes < BANDWIDTH_BEYOND_L2_MIB or
                   (rate is not None and rate <= NOMINAL_BYTES_PER_SECOND), complaints,
                   f"device {row['name']}: {rate} bytes/s, the data sheet's is "
                   f"{NOMINAL_BYTES_PER_SECOND}")
    return complaints


def machine_kinds(document):
    """The devices that the commands of a record ran on: one, or the record mixes two."""
    return {machine["device"] for machine in document["machines"]}


CHECKS = {"operators": check_operators, "steps": check_steps, "device": check_device}
LATER = {"_2": ("operators", "steps"), "_3": ("operators",)}  # what a record of that name has to have


def check_folder(folder):
    """All complaints about the record in a folder."""
    paths = {name: folder / f"{name}.json.gz" for name in CHECKS}
    if folder.name[-2:] in LATER:  # A later record has the device of the first, the third has operators alone.
        paths = {name: path for name, path in paths.items() if path.exists() or name in LATER[folder.name[-2:]]}
    missing = [f"{path}: is not there; record_kernels.py --pack writes it"
               for path in paths.values() if not path.exists()]
    if missing:
        return missing
    size = sum(path.stat().st_size for path in paths.values())
    complaints = [] if size <= LARGEST_RECORD_BYTES else [
        f"{folder}: {size} bytes, want at most {LARGEST_RECORD_BYTES}"]
    for name, path in paths.items():
        document = storage.read_document(path)
        kinds = machine_kinds(document)
        expect(len(kinds) == 1, complaints, f"{path}: made on {sorted(kinds)}, want one device")
        least = {"least": TINY_POINTS} if name == "operators" and folder.name.endswith("_3") else {}
        complaints += CHECKS[name](document, kinds == {"cuda"}, **least)
    return complaints
