"""The operators that were recorded on an H200 (truth/h200/kernel_record) as rows of the program's classes of kernels.

A row's time is what its kernels take, each with the gap to the next in a full queue, as in a step. Works are those that
the rules of profile/cost/time/ state for the same call; calls whose rule has more than one class are left out."""
import json
import math
import pathlib
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORD = ROOT / "truth" / "h200" / "kernel_record"
sys.path.insert(0, str(ROOT / "truth" / "h200"))

from kernels import storage  # noqa: E402

BYTES = {"float32": 4, "tf32": 4, "bfloat16": 2, "float16": 2, "float8_e4m3fn": 1, "int64": 8, "bool": 1}
PRODUCTS = {"float32": "product_fp32", "tf32": "product_tf32", "bfloat16": "product_16bit", "float16": "product_16bit",
            "float8_e4m3fn": "product_8bit"}
CONVOLUTIONS = {"float32": "convolution_fp32", "tf32": "convolution_tf32", "bfloat16": "convolution_16bit"}
PASSES = {"forward": 0, "grad_input": 1, "grad_weight": 2}
OPERANDS = {"addcmul": 3, "where": 3, "lerp": 3, "add": 2, "mul": 2, "div": 2}
SETS_OF_WEIGHTS = 6  # sets_of_weights in profile/cost/time/matmul.cpp
SHARED_BLOCK, NUMBERS_OF_THREAD, BLOCKS_AT_ONCE, MULTIPROCESSORS = 512, 16, 4, 132  # reduction.cpp


def is_drawn(key):
    """Half of the points: whether they are measured once or twice, flushed or not, does not matter."""
    return zlib.crc32(key.rsplit("/", 2)[0].encode()) % 2 == 0


def matmul(operation, p, cache):
    *batch, m, n, k = p["sizes"]
    number = BYTES[p["dtype"]]
    first, second = p["layout"]
    distances = [k if first == "n" else m, n if second == "n" else k, n]
    work = {"batch": batch[0] if batch else 1, "m": m, "n": n, "k": k, "operand_bytes": number,
            "weight_sets": SETS_OF_WEIGHTS if cache == "flushed" else 1,
            "alignment": math.gcd(16, *(number * distance for distance in distances))}
    return PRODUCTS[p["dtype"]], work, 1


def attention(operation, p, cache):
    backend, direction = operation.rsplit("_", 1)
    if backend == "math":
        return None
    half = "attention_newer" if backend == "cudnn" else "attention_flash"
    work = {"batch": p["batch"], "heads": p["heads"], "kv_heads": p["heads"], "queries": p["query_length"],
            "keys": p["key_length"], "head_dim": p["head_size"], "number_bytes": BYTES[p["dtype"]],
            "causal": int(p["causal"]), "backward": int(direction == "backward")}
    return "attention_fp32" if p["dtype"] == "float32" else half, work, 3 if direction == "backward" else 1


def convolution(operation, p, cache):
    channels, size, out_channels, kernel, stride, padding, groups, dilation = p["shape"]
    out = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    work = {"pass": PASSES[operation], "batch": p["batch"], "in_channels": channels, "out_channels": out_channels,
            "groups": groups, "in": size * size, "out": out * out, "window": kernel * kernel,
            "number_bytes": BYTES[p["dtype"]], "is_winograd": int(kernel == 3 and stride == 1 and dilation == 1),
            "channels_last": int(p["memory_format"] == "channels_last")}
    return CONVOLUTIONS[p["dtype"]], work, 1


def elementwise(operation, p, cache):
    number = BYTES[p["dtype"]]
    if operation == "to":
        return "elementwise", {"bytes": p["count"] * (number + BYTES[p["target"]])}, 1
    if operation.endswith("_backward"):
        return "elementwise", {"bytes": 3 * number * p["count"]}, 1
    total = p["count"] * number * (OPERANDS.get(operation, 1) + 1)
    return "elementwise", {"bytes": total - (p["count"] * (number - 1) if operation == "where" else 0)}, 1


def movement(operation, p, cache):
    number = BYTES[p["dtype"]] * math.prod(p["sizes"])
    if operation in ("heads_permute_copy", "transpose_copy", "to_channels_last", "to_contiguous"):
        return "copy", {"bytes": 2 * number}, 1
    if operation == "cat":
        return "copy", {"bytes": 4 * number}, 1
    return ("elementwise", {"bytes": 2 * number}, 1) if operation == "clone" else None


def normalization(operation, p, cache):
    name, direction = operation.rsplit("_", 1)
    numbers, forward = math.prod(p["sizes"]), direction == "forward"
    total = numbers * BYTES[p["dtype"]] * (2 if forward else 3)
    if name in ("layer_norm", "rms_norm"):
        return "layer_norm", {"rows": numbers // p["sizes"][-1], "length": p["sizes"][-1],
                              "bytes": round(total * (1 if forward else 1.67))}, 1 if forward else 2
    if name in ("softmax", "log_softmax"):
        two = not forward and name == "softmax"
        return "softmax", {"rows": numbers // p["sizes"][-1], "length": p["sizes"][-1],
                           "bytes": total * (2 if two else 1)}, 2 if two else 1
    total = round(total * (1.5 if forward else 1.67))
    if name == "group_norm":
        rows = p["sizes"][0] * 32
        return "layer_norm", {"rows": rows, "length": numbers // rows, "bytes": total}, 3 if forward else 5
    channels_last = p["memory_format"] == "channels_last"
    if p["dtype"] == "float32" and not channels_last:  # cuDNN's
        return "batch_norm", {"rows": p["sizes"][1], "length": numbers // p["sizes"][1] * (1 if forward else 2),
                              "bytes": total}, 1
    if p["dtype"] != "float32" and channels_last:
        return "batch_norm_native", {"bytes": total}, 3 if forward else 2
    return None


def reduction(operation, p, cache):
    if operation in ("cumsum", "topk", "sort"):
        return None
    numbers = math.prod(p["sizes"])
    results = {"all": 1, "inner": p["sizes"][0], "outer": p["sizes"][1]}[p["over"]]
    length = numbers // results
    together = max(SHARED_BLOCK // length, 1)
    rows, length = -(-results // together), length * together
    wanted = MULTIPROCESSORS * BLOCKS_AT_ONCE // rows
    parts = max(min(wanted, length // (SHARED_BLOCK * NUMBERS_OF_THREAD)), 1)
    return "reduction", {"rows": rows * parts, "length": length // parts,
                         "bytes": (numbers + results) * BYTES[p["dtype"]]}, 1


def loss(operation, p, cache):
    name, direction = operation.rsplit("_", 1)
    number, numbers = BYTES[p["dtype"]], math.prod(p["sizes"])
    if name == "dropout":
        return "elementwise", {"bytes": numbers * (2 * number + 1)}, 1
    if name != "max_pool2d":
        return None
    out = math.prod(p["sizes"][:2]) * ((p["sizes"][2] - 1) // 2 + 1) * ((p["sizes"][3] - 1) // 2 + 1)
    if direction == "forward":
        return "pooling", {"bytes": numbers * number + out * (number + 8)}, 1
    return "pooling", {"bytes": 3 * (2 * numbers * number + out * (number + 8))}, 2


def indexing(operation, p, cache):
    rows, width, count = p["table"]
    if operation not in ("embedding", "index_select"):
        return None
    return "gather", {"bytes": 2 * count * width * BYTES[p["dtype"]] + 8 * count}, 1


FAMILIES = {"matmul": matmul, "attention": attention, "convolution": convolution, "elementwise": elementwise,
            "movement": movement, "normalization": normalization, "reduction": reduction, "loss": loss,
            "indexing": indexing}


def gap_us():
    device = storage.read_document(RECORD / "device.json.gz")
    return next(run["latency"] for run in device["runs"] if "latency" in run)["gap_in_queue_ns"]["median"] / 1e3


def table():
    """One line for each point with a work: class, its time without the launches that the rule counts apart, the work."""
    record = storage.read_document(RECORD / "operators.json.gz")
    strings, gap, lines = record["strings"], gap_us(), []
    for point in storage.table(record["points"]):
        family, operation = strings[point["family"]], strings[point["operation"]]
        if family not in FAMILIES or point["kernel_ns_median"] is None:
            continue
        parameters = point["parameters"]
        parameters = json.loads(parameters) if isinstance(parameters, str) else parameters
        found = FAMILIES[family](operation, parameters, strings[point["cache"]])
        if found is None:
            continue
        time_class, work, launches = found
        more = (launches - 1) * LAUNCH_US
        us = point["kernel_ns_median"] / 1e3 + gap * point["kernels"]
        lines.append({"class": time_class, "family": family, "operation": operation, "work": work, "more": more,
                      "us": us, "drawn": is_drawn(point["key"])})
    return lines


LAUNCH_US = 2.0  # of devices/h200.json: one-element kernel 0.93 us and the gap to the next, 1.06 us


def is_fitted(line):
    """Rows whose residuals say something of their neighbours: neither products whose rows are not aligned, which other
    kernels compute, nor the memory-efficient kernel in 16 bit, which no device of this age chooses."""
    work = line["work"]
    if line["class"].startswith("product"):
        return work["alignment"] == 16 or line["class"] == "product_fp32"
    return not line["operation"].startswith("efficient") or line["class"] == "attention_fp32"


def rows_of(lines):
    """Rows as fit.py takes them: times are at least a tenth of what was measured, whatever the rule's launches take."""
    import numpy  # a comparison needs none of them
    import pandas

    import sources
    work = pandas.DataFrame([line["work"] for line in lines]).astype("int64")
    us = numpy.array([max(line["us"] - line["more"], 0.1 * line["us"]) for line in lines])
    return sources.Rows("h200", lines[0]["class"], work, us, "truth/h200/kernel_record")
