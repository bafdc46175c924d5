"""The operators that were recorded on an H200 (truth/h200/kernel_record) as rows of the program's classes of kernels.

A row's time is what its kernels take, without the gaps between them, which a step has on top (`kernel_gap_us` of a device
file); its work is what the program's rules say of the ATen calls that were measured (operator_kernels.py)."""
import collections
import hashlib
import json
import math
import pathlib
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORD = ROOT / "truth" / "h200" / "kernel_record"
SMALL = RECORD.with_name("kernel_record_3")  # Kernels of small networks, with operands that L2 has.
RECORDS = (RECORD, RECORD.with_name("kernel_record_2"), SMALL)
sys.path[:0] = [str(ROOT / "truth" / "h200"), str(ROOT / "truth" / "measured")]

import single_calls  # noqa: E402
from kernels import storage  # noqa: E402
from operator_kernels import PROGRAM, linear_layers, recorded_kernels  # noqa: E402

L2_BYTES = 62_914_560  # of devices/h200.json
LAUNCH_US = 0.93  # the same: a kernel of one element
ALONG, MIXED = 0, 1  # ProductLayout of profile/time/kernel.h
SETS_OF_WEIGHTS = 6  # as many as nothing of them is in L2 any more


# Calls of kernels of several classes, each with a work of its own: they are judged, and fit nothing.
OF_SEVERAL = ("group_norm",)
BOTH = ("forward", "backward")


def draw(key, seed=""):
    """A number of the point: whether it is measured once or twice, flushed or not, does not matter."""
    return zlib.crc32((key.rsplit("/", 2)[0] + seed).encode())


def drawn_again(lines, seed):
    """The same lines with another half drawn, and other folds. CRC-32 is linear: with another suffix it draws the same half, or
    the other one."""
    numbers = [int.from_bytes(hashlib.sha256(f"{line['key'].rsplit('/', 2)[0]}/{seed}".encode()).digest()[:4], "big")
               for line in lines]
    return [{**line, "drawn": number % 2 == 0, "fold": number // 2} for line, number in zip(lines, numbers)]


RECURRENT = {"tf32": "recurrent_tf32", "bfloat16": "recurrent_16bit", "float16": "recurrent_16bit"}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
NUMBER_BYTES = {"recurrent_tf32": 4, "recurrent_16bit": 2}


def recurrent(operation, p, kernels):
    """(class, work, launches, us) of one layer's steps: the kernels that come once in each."""
    kind, direction = operation.split("_")
    length, batch, _, hidden, layers, directions = p["size"]
    if layers * directions > 1 or p["dtype"] not in RECURRENT or length < 16:
        return None
    groups = collections.defaultdict(list)
    for kernel in kernels:
        groups[kernel["name"], kernel["grid"]].append(kernel["median_ns"])
    steps = [times for times in groups.values() if len(times) >= length // 2]
    launches = sum(map(len, steps))
    if launches < length:
        return None  # one kernel for all steps
    work = {"steps": length, "batch": batch, "hidden": hidden, "gates": GATES[kind], "number_bytes": NUMBER_BYTES[RECURRENT[p["dtype"]]],
            "backward": int(direction == "backward")}
    return RECURRENT[p["dtype"]], work, launches, sum(map(sum, steps)) / 1e3


FAMILIES = ("matmul", "attention", "convolution", "elementwise", "movement", "normalization", "reduction", "loss", "indexing",
            "recurrent")
# Operations whose recorded calls have kernels of their own beside what a rule is about (the variance of stored statistics), or
# belong to no class that is fitted.
LEFT_OUT = {"math_forward", "math_backward", "cumsum", "topk", "sort", "batch_norm_inference", "fill", "strided_copy",
            "cross_entropy_forward", "cross_entropy_backward", "adaptive_avg_pool2d_forward", "adaptive_avg_pool2d_backward",
            "gather", "index_add", "index_put", "index_put_accumulate", "scatter_add", "embedding_backward"}
SINGLE_FUNCTIONS = {"avg_pool2d": BOTH, "max_pool2d": BOTH, "interpolate": BOTH, "sum": ("forward",), "transposed": ("forward",)}


def found_in(family, operation, point, kernels, of_rules):
    """(class, work, launches, us) or None. `kernels` were measured, those `of_rules` are what the program says."""
    if family == "recurrent":
        parameters = point["parameters"]
        return recurrent(operation, json.loads(parameters) if isinstance(parameters, str) else parameters, kernels)
    found = None if operation in LEFT_OUT else as_one(of_rules, operation)
    return found and (*found, point["kernel_ns_median"] / 1e3)


def as_one(kernels, operation):
    """(class, work, launches) of a call's kernels: of one, or of several of one operator that is judged as their sum."""
    if not kernels:
        return None
    launches = sum(kernel["launches"] for kernel in kernels)
    if len(kernels) == 1:
        return kernels[0]["class"], kernels[0]["work"], launches
    name = operation.rsplit("_", 1)[0]
    if name not in OF_SEVERAL:
        return None
    return name, {"kernels": [(kernel["class"], kernel["work"]) for kernel in kernels]}, launches - len(kernels) + 1


def leaves_cache(work):
    """Operands and results are more than L2 has."""
    number = work.get("number_bytes", work.get("operand_bytes", 0))
    if "bytes" in work:
        total = work["bytes"]
    elif "m" in work:
        total = number * work["batch"] * (work["m"] * work["k"] + work["k"] * work["n"] + work["m"] * work["n"])
    elif "in_channels" in work:
        total = number * work["batch"] * (work["in"] * work["in_channels"] + work["out"] * work["out_channels"])
    else:
        return False
    return total > L2_BYTES


def lines_of(folder, of_rules):
    record = storage.read_document(folder / "operators.json.gz")
    strings, kernels = record["strings"], collections.defaultdict(list)
    for kernel in storage.table(record["kernels"]):
        kernels[kernel["point"]].append(kernel)
    for place, point in enumerate(storage.table(record["points"])):
        family, operation, cache = (strings[point[key]] for key in ("family", "operation", "cache"))
        if family not in FAMILIES or point["kernel_ns_median"] is None:
            continue
        found = found_in(family, operation, point, kernels[place], of_rules.get(point["key"].rsplit("/", 2)[0]))
        if found is None:
            continue
        time_class, work, launches, us = found
        if "weight_sets" in work:
            work = {**work, "weight_sets": SETS_OF_WEIGHTS if cache == "flushed" else 1}
        yield {"class": time_class, "family": family, "operation": operation, "work": work,
               "more": (launches - 1) * LAUNCH_US, "us": us, "key": point["key"], "drawn": draw(point["key"]) % 2 == 0,
               "fold": draw(point["key"]) // 2, "is_small": folder == SMALL,
               "is_cold": cache == "flushed" or leaves_cache(work)}


def lines_of_single_calls(of_rules):
    """The development split fits, the held-out split judges."""
    rows, looked_at = json.loads(single_calls.ROWS.read_text())["rows"], single_calls.looked_at()
    for name, call in single_calls.calls().items():
        for phase in SINGLE_FUNCTIONS.get(call.function, ()):
            found = as_one(of_rules[f"single/{name}/{phase}"], call.function)
            if found is None or not rows[name][f"{phase}_us"]:
                continue
            time_class, work, launches = found
            key = f"single/{call.function}/{name}/{phase}/flushed/0"
            yield {"class": time_class, "family": "single", "operation": call.function, "work": work,
                   "more": (launches - 1) * LAUNCH_US, "us": rows[name][f"{phase}_us"], "key": key,
                   "drawn": name in looked_at, "fold": draw(key) // 2, "is_small": False, "is_cold": True}


def table(device="h200", program=PROGRAM):
    """One line for each point with a work: class, its time without the launches that the rule counts apart, the work."""
    of_rules = recorded_kernels(device, program)
    folders = RECORDS if device == "h200" else (ROOT / "truth" / device / "kernel_record",)
    lines = [line for folder in folders for line in lines_of(folder, of_rules)]
    return lines + list(lines_of_single_calls(of_rules)) if device == "h200" else lines


# Of `symprof calibrate` on the same kind of card: each call behind a flush, as what a step reads is mostly not in L2, where
# the recorded operators have theirs. Products in fp32 as layers have them, in their three layouts.
CALIBRATION = ROOT / "truth" / "measured" / "h200_kernels.json"
CONVOLUTION = ("pass", "batch", "in_channels", "out_channels", "groups", "in", "out", "window", "number_bytes", "is_winograd",
               "channels_last")
ROWS, STREAM, PRODUCT = ("rows", "length", "bytes"), ("bytes",), ("batch", "m", "n", "k", "operand_bytes")
CALIBRATED = {"product_fp32": PRODUCT, "product_16bit": PRODUCT, "elementwise": STREAM,
              "softmax": ROWS, "reduction": ROWS,
              "convolution_16bit": CONVOLUTION, "convolution_tf32": CONVOLUTION}


def swept_layout(work):
    """As profile/time/candidates.cpp has it: a calibration's file does not say it."""
    if work["batch"] > 1:
        return MIXED
    return ((work["m"] + work["n"] * 3 + work["k"] * 5) * 2654435769 % 2 ** 32 >> 16) % 3


def swept_products(time_class, kernels, program):
    """(work, launches) of each: linear layers of a sweep have a bias (measure/real/kernel_calls.cpp)."""
    works = [dict(zip(PRODUCT, kernel["work"])) for kernel in kernels]
    layers = [work for work in works if swept_layout(work) == ALONG]
    sizes = [tuple(work[size] for size in ("m", "n", "k")) for work in layers]
    of_rules = iter(linear_layers(sizes, "float32" if time_class == "product_fp32" else "bfloat16", "h200", program))
    for work in works:
        layout = swept_layout(work)
        [found] = next(of_rules) if layout == ALONG else [{"work": {}, "launches": 1}]
        more = {"weight_sets": SETS_OF_WEIGHTS if work["batch"] == 1 else 1, "alignment": 16, "layout": layout, "shares_right": 0,
                "result_bytes": work["operand_bytes"], "kernel": found["work"].get("kernel", 0)}
        yield {**work, **more}, found["launches"]


def calibrated(time_class, program=PROGRAM):
    """Lines as table() has them, for a fit alone: no comparison judges on them."""
    columns = CALIBRATED.get(time_class, ())
    kernels = json.loads(CALIBRATION.read_text())["kernels"] if columns else ()
    placed = [(place, kernel) for place, kernel in enumerate(kernels) if kernel["class"] == time_class]
    works = ([(dict(zip(columns, kernel["work"])), kernel.get("launches", 1)) for _, kernel in placed] if columns != PRODUCT else
             swept_products(time_class, [kernel for _, kernel in placed], program))
    return [{"class": time_class, "work": work, "more": (launches - 1) * LAUNCH_US, "us": kernel["us"], "fold": place}
            for (place, kernel), (work, launches) in zip(placed, works) if is_aligned(time_class, work)]


def is_aligned(time_class, work):
    return time_class != "product_16bit" or math.gcd(work["m"], work["n"], work["k"]) * work["operand_bytes"] % 16 == 0


def source_of(device):
    return f"truth/{device}/kernel_record"


# Of these, kernels that find their operands in L2 are fitted apart: the others are of operands that come from memory.
IN_CACHE = ("product_fp32", "product_tf32", "product_16bit", "elementwise", "reduction", "softmax", "layer_norm",
            "convolution_16bit", "convolution_tf32")


def is_in_cache(line):
    """Products of any alignment: kernels of small networks have all."""
    is_of = is_of_class(line) or line["class"].startswith("product")
    return line["class"] in IN_CACHE and not line["is_cold"] and is_of


# Beside those, of which a calibration behind a flush has measurements, these have enough recorded calls of both kinds.
APART = {*CALIBRATED, "product_tf32"}


def is_fitted(line):
    """Of classes that are fitted apart no calls that find their operands in L2; the third record has no others."""
    return not line["is_small"] and (line["is_cold"] or line["class"] not in APART) and is_of_class(line)


def is_of_class(line):
    """Rows whose residuals say something of their neighbors: neither products whose rows are not aligned, which other
    kernels compute, nor the memory-efficient kernel in 16 bit, which no device of this age chooses, nor cuDNN's batch norm
    with channels last, which counts as element-wise for want of a class."""
    work = line["work"]
    if line["class"] == "elementwise":
        return not line["operation"].startswith("batch_norm")
    if line["class"].startswith("product"):
        return work["alignment"] == 16 or line["class"] == "product_fp32"
    return not line["operation"].startswith("efficient") or line["class"] == "attention_fp32"


def fits(line):
    return (is_fitted(line) or is_in_cache(line)) and line["class"] not in OF_SEVERAL


def rows_of(lines, device="h200"):
    """Rows as fit.py takes them: times are at least a tenth of what was measured, whatever the rule's launches take."""
    import numpy  # a comparison needs none of them
    import pandas

    import sources
    work = pandas.DataFrame([line["work"] for line in lines]).astype("int64")
    us = numpy.array([max(line["us"] - line["more"], 0.1 * line["us"]) for line in lines])
    return sources.Rows(device, lines[0]["class"], work, us, source_of(device))
