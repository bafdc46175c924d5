"""Works of PyTorch's calls on an H200 as the rules of profile/cost/time/ state them: (class, work, launches), or None where a
rule has more than one class or the call is of no use to a fit. The rules' constants stand here a second time."""
import collections
import math

BYTES = {"float32": 4, "tf32": 4, "bfloat16": 2, "float16": 2, "float8_e4m3fn": 1, "int64": 8, "bool": 1}
PRODUCTS = {"float32": "product_fp32", "tf32": "product_tf32", "bfloat16": "product_16bit", "float16": "product_16bit",
            "float8_e4m3fn": "product_8bit"}
CONVOLUTIONS = {"float32": "convolution_fp32", "tf32": "convolution_tf32", "bfloat16": "convolution_16bit",
                "float16": "convolution_16bit"}
PASSES = {"forward": 0, "grad_input": 1, "grad_weight": 2}
OPERANDS = {"addcmul": 3, "where": 3, "lerp": 3, "add": 2, "mul": 2, "div": 2}
LAUNCH_US = 0.93  # of devices/h200.json: a kernel of one element
SETS_OF_WEIGHTS = 6  # sets_of_weights in profile/cost/time/matmul.cpp
SHARED_BLOCK, NUMBERS_OF_THREAD, BLOCKS_AT_ONCE, MULTIPROCESSORS = 512, 16, 4, 132  # reduction.cpp


BYTES_PER_CLOCK = {"h200": 4.8e12 * 0.9 / 1.83e9, "h100": 3.35e12 * 0.9 / 1.83e9}  # of devices/, and launches.cpp
device = "h200"  # Whose works the functions below state; h200_rows.table() sets it.


def bytes_beside(numbers, per_clock):
    """As profile/cost/time/launches.cpp has it."""
    return round(numbers * BYTES_PER_CLOCK[device] / (MULTIPROCESSORS * per_clock))


def bytes_of_clocks(clocks):
    return clocks * BYTES_PER_CLOCK[device]


def sum_across(results, length, bytes_read):
    """As profile/cost/time/sums.cpp has it, of an H200."""
    vector = 4 if results % 4 == 0 else 2 if results % 2 == 0 else 1
    columns, threads = results // vector, 512 // vector
    widest, highest = (threads if size >= threads else 1 << size.bit_length() - 1 for size in (columns, length))
    height = min(highest, threads // min(widest, 32))
    width = min(widest, threads // height)
    values, blocks, parts = -(-length // height), -(-columns // width), 1
    wanted = MULTIPROCESSORS * (2048 // (width * height))
    if length < min(16 * height, 256):
        blocks = -(-columns // (width * height))
    elif values >= 256 and blocks <= wanted:
        parts = max(min(-(-wanted // blocks), -(-values // 16)), -(-values // 256))
    waits = -(-parts // height) if parts > 1 else 0
    return {"rows": blocks * parts, "length": results * length // (blocks * parts),
            "bytes": bytes_read + round(bytes_of_clocks(CLOCKS_OF_SHARING * (waits > 0) + CLOCKS_OF_WAIT * waits))}


CLOCKS_OF_WAIT, CLOCKS_OF_SHARING, HALVES_PER_CLOCK = 450, 6500, 7  # sums.cpp
PAIRS_PER_CLOCK = 3.6, 2.2  # reduction.cpp, along rows and across
HALVES_OF = {"sum": (13.5, HALVES_PER_CLOCK), "mean": (13.5, HALVES_PER_CLOCK), "norm": (6.8, HALVES_PER_CLOCK),
             "amax": (6.7, 4.5)}  # the same
CLOCKS_OF_TURN = {"layer_norm": 2000, "rms_norm": 1300}  # normalization.cpp
# Of the forward pass's group norms that calibrate, where L2 has them; from memory as normalization.cpp has it.
CLOCKS_OF_MOMENT_IN_CACHE, CLOCKS_OF_MOMENT = 300, 743
MOMENTS_PER_CLOCK, PAIRS_OF_GROUPS_PER_CLOCK, GRADIENTS_PER_CLOCK = 1.85, 1.9, 1.07  # normalization.cpp
# Of a number in 16 bit, and of a turn of all threads of a channel: forward, with channels last (normalization.cpp).
CLOCKS_OF_STATISTICS = {(True, True): (0.9, 1190), (False, True): (0.7, 740), (True, False): (1.1, 900), (False, False): (1.4, 1550)}
SMALL_AREA, CLOCKS_OF_SMALL_AREA, CLOCKS_OF_TURN_IN_CACHE, L2_BYTES = 64, 3.8, 600, 62_914_560
ROWS_AT_ONCE, THREADS_OF_CHANNEL = 2048, 512  # the same
NUMBERS_OF_VECTOR = 4  # rms_norm_times in normalization.cpp
ONE_BY_ONE_PER_CLOCK, DRAWN_PER_CLOCK = 1.5, 6  # launches.cpp, functions.cpp
CLOCKS_OF_BLOCK = 1.1  # streaming.cpp
FUNCTIONS_PER_CLOCK = {"gelu": 3.1, "gelu_backward": 2.35}  # functions.cpp


def matmul(operation, p, cache):
    *batch, m, n, k = p["sizes"]
    number = BYTES[p["dtype"]]
    first, second = p["layout"]
    distances = [k if first == "n" else m, n if second == "n" else k, n]
    work = {"batch": batch[0] if batch else 1, "m": m, "n": n, "k": k, "operand_bytes": number,
            "weight_sets": SETS_OF_WEIGHTS if cache == "flushed" else 1,
            "alignment": math.gcd(16, *(number * distance for distance in distances)),
            "layout": (first == "t") + (second == "n"), "result_bytes": max(number, BYTES["bfloat16"])}
    time_class = PRODUCTS[p["dtype"]]
    work["kernel"] = product_kernel(time_class, work, operation == "addmm")
    return time_class, work, LAUNCHES_OF_PRODUCT[work["kernel"]]


ALONG, MIXED = 0, 1  # ProductLayout of profile/time/kernel.h
USUAL, FEW_ROWS, LARGE_K = 0, 1, 2  # ProductKernel, there
LAUNCHES_OF_PRODUCT = {USUAL: 1, FEW_ROWS: 1, LARGE_K: 4}


def product_kernel(time_class, work, has_bias):
    """As kernel_of in profile/cost/time/matmul.cpp has it, of an H200."""
    m, n, k = work["m"], work["n"], work["k"]
    if time_class not in ("product_fp32", "product_tf32"):
        return USUAL
    is_linear = has_bias and work["batch"] == 1 and time_class == "product_fp32"
    if min(m, n) == 1 or is_linear and m <= 16:
        return FEW_ROWS
    is_little = m < 4096 and m * n < 134_000 and m * n * k <= (2.1e6 if k <= 48 else 1.9e6)
    return LARGE_K if is_linear and is_little else USUAL


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
    if groups == channels:
        if work["channels_last"]:
            return "depthwise_cudnn", work, 1
        if p["dtype"] != "float16" or not is_cudnn_depthwise(p["batch"], channels, size, kernel, stride, dilation):
            return "depthwise", work, 1
    return CONVOLUTIONS[p["dtype"]], work, 1


def is_cudnn_depthwise(batch, channels, size, kernel, stride, dilation):
    """In half precision: as profile/cost/convolution_kernels.cpp has it. Names of the recorded kernels agree."""
    if dilation != 1 or channels < 32 or size < 7 or kernel not in (1, 3, 5):
        return False
    if stride != 2:
        return stride == 1
    if batch == 1:
        return kernel != 1 or size <= 28
    if kernel == 1:
        return batch <= 16 and channels >= 128 and size <= 7
    return channels >= 512 or (channels >= 256 and size >= 28)


RECURRENT = {"tf32": "recurrent_tf32", "bfloat16": "recurrent_16bit", "float16": "recurrent_16bit"}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


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
    work = {"steps": length, "batch": batch, "hidden": hidden, "gates": GATES[kind], "number_bytes": BYTES[p["dtype"]],
            "backward": int(direction == "backward")}
    return RECURRENT[p["dtype"]], work, launches, sum(map(sum, steps)) / 1e3


def elementwise(operation, p, cache):
    number = BYTES[p["dtype"]]
    if operation == "to":
        total = p["count"] * (number + BYTES[p["target"]])
        moves_vectors = p["dtype"] == p["target"] or (number == 4 and BYTES[p["target"]] == 2)  # casts_vectors in streaming.cpp
        return "elementwise", {"bytes": total if moves_vectors else max(total, bytes_beside(p["count"], ONE_BY_ONE_PER_CLOCK))}, 1
    if operation == "broadcast_add":
        numbers = math.prod(p["sizes"]) if "sizes" in p else p["count"]
        return "elementwise", {"bytes": max(2 * number * numbers, bytes_beside(numbers, ONE_BY_ONE_PER_CLOCK))}, 1
    least = bytes_beside(p["count"], FUNCTIONS_PER_CLOCK[operation]) if operation in FUNCTIONS_PER_CLOCK else 0
    if operation.endswith("_backward"):
        return "elementwise", {"bytes": max(3 * number * p["count"], least)}, 1
    total = max(p["count"] * number * (OPERANDS.get(operation, 1) + 1), least)
    return "elementwise", {"bytes": total - (p["count"] * (number - 1) if operation == "where" else 0)}, 1


def movement(operation, p, cache):
    numbers = math.prod(p["sizes"])
    total = 2 * numbers * BYTES[p["dtype"]]
    if operation in ("transpose_copy", "to_channels_last", "to_contiguous"):
        across = 2 * numbers * max(BYTES[p["dtype"]], 4)  # bytes_across in launches.cpp
        has_few = len(p["sizes"]) > 2 and p["sizes"][1] <= 4  # has_few_across in streaming.cpp
        return "copy", {"bytes": round(across / 2.2) if has_few else across}, 1
    if operation == "heads_permute_copy":
        return "elementwise", {"bytes": max(total, bytes_beside(numbers, ONE_BY_ONE_PER_CLOCK))}, 1
    if operation == "cat":
        return "elementwise", {"bytes": 2 * total}, 1
    return ("elementwise", {"bytes": total}, 1) if operation == "clone" else None


def group_norm(forward, p, numbers, cache):
    """As profile/cost/time/normalization.cpp has it: (class, work) of each kernel but the short ones. A thread waits less from
    number to number where L2 has them than for those that come from memory, which the program takes all to do."""
    images, channels = p["sizes"][:2]
    number, rows = BYTES[p["dtype"]], images * (32 if forward else channels)
    kernels = []
    if forward:
        clocks = CLOCKS_OF_MOMENT if cache == "flushed" or numbers * number > L2_BYTES else CLOCKS_OF_MOMENT_IN_CACHE
        waits = bytes_of_clocks(clocks * -(-numbers // rows // (32 if numbers // rows < 512 else 512)))
        work = {"rows": rows, "length": numbers // rows,
                "bytes": max(numbers * number, bytes_beside(numbers, MOMENTS_PER_CLOCK), round(waits))}
        if p["memory_format"] == "channels_last":
            kernels.append(("copy", {"bytes": 2 * numbers * max(number, 4)}))
        last = max(2 * numbers * number, bytes_beside(numbers, ONE_BY_ONE_PER_CLOCK))
    else:
        waits = rows * (123 if numbers // rows < 512 else 520) / MULTIPROCESSORS + 590 * min(images, 32)
        work = {"rows": rows, "length": numbers // rows,
                "bytes": max(2 * numbers * number, bytes_beside(numbers, PAIRS_OF_GROUPS_PER_CLOCK)) + round(bytes_of_clocks(waits))}
        last = max(3 * numbers * number, bytes_beside(numbers, GRADIENTS_PER_CLOCK))
    return [*kernels, ("reduction", work), ("elementwise", {"bytes": last})]


def normalization(operation, p, cache):
    name, direction = operation.rsplit("_", 1)
    numbers, forward = math.prod(p["sizes"]), direction == "forward"
    total = numbers * BYTES[p["dtype"]] * (2 if forward else 3)
    if name in ("layer_norm", "rms_norm"):
        rows, length = numbers // p["sizes"][-1], p["sizes"][-1]
        if not forward:
            if rows > 65536 and 2 * (length // 32) < MULTIPROCESSORS:
                return None  # with sums of its parts
            turns = -(-rows // 256)
            total += max(total * 2 // 3, round(bytes_of_clocks(CLOCKS_OF_TURN[name] * turns)))
        time_class = "rms_norm" if name == "rms_norm" and forward and length % NUMBERS_OF_VECTOR == 0 else "layer_norm"
        return time_class, {"rows": rows, "length": length, "bytes": total}, 1 if forward else 2
    if name in ("softmax", "log_softmax"):
        two = not forward and name == "softmax"
        return "softmax", {"rows": numbers // p["sizes"][-1], "length": p["sizes"][-1],
                           "bytes": total * (2 if two else 1)}, 2 if two else 1
    if name == "group_norm":
        return "group_norm", {"kernels": group_norm(forward, p, numbers, cache)}, 2 if forward else 4
    total = round(total * (1.5 if forward else 1.67))
    if direction == "inference":
        return None  # the recorded call makes its variance too
    channels_last, of_cudnn = p["memory_format"] == "channels_last", p["dtype"] == "float32"
    channels, launches = p["sizes"][1], 1 if of_cudnn else 3 if forward else 2
    if channels_last and of_cudnn:
        return "elementwise", {"bytes": total}, launches
    if not of_cudnn:
        total = batch_norm_bytes(forward, p["sizes"], BYTES[p["dtype"]], channels_last)
    if channels_last:
        return "batch_norm_native", {"bytes": total}, launches
    work = {"rows": channels, "length": numbers // channels * (1 if forward else 2), "bytes": total}
    return ("batch_norm" if of_cudnn else "batch_norm_rows"), work, launches


def batch_norm_bytes(forward, sizes, number, channels_last):
    """As profile/cost/time/normalization.cpp has it: the statistics, then element by element."""
    numbers, area = math.prod(sizes), math.prod(sizes[2:])
    of_number, of_turn = CLOCKS_OF_STATISTICS[forward, channels_last]
    if forward and not channels_last and area <= SMALL_AREA:
        of_number = CLOCKS_OF_SMALL_AREA
    if channels_last and numbers * number * (1 if forward else 2) < L2_BYTES:
        of_turn = CLOCKS_OF_TURN_IN_CACHE
    turns = numbers / sizes[1] / (ROWS_AT_ONCE if channels_last else THREADS_OF_CHANNEL)
    clocks = max(numbers * of_number / MULTIPROCESSORS, turns * of_turn)
    return (2 if forward else 3) * numbers * number + round(bytes_of_clocks(clocks))


def reduction(operation, p, cache):
    if operation in ("cumsum", "topk", "sort"):
        return None
    numbers = math.prod(p["sizes"])
    results = {"all": 1, "inner": p["sizes"][0], "outer": p["sizes"][1]}[p["over"]]
    length = numbers // results
    number, across = BYTES[p["dtype"]], p["over"] == "outer"
    per_clock = PAIRS_PER_CLOCK[across] if operation == "argmax" else math.inf if number >= 4 else HALVES_OF[operation][across]
    if results == 1 and operation in ("sum", "mean") and number < 4:
        per_clock = HALVES_PER_CLOCK
    least = max(numbers * number, bytes_beside(numbers, per_clock))
    if across:
        return "reduction", sum_across(results, length, least), 1
    together = max(SHARED_BLOCK // length, 1)
    rows, length = -(-results // together), length * together
    wanted = MULTIPROCESSORS * BLOCKS_AT_ONCE // rows
    parts = max(min(wanted, length // (SHARED_BLOCK * NUMBERS_OF_THREAD)), 1)
    return "reduction", {"rows": rows * parts, "length": length // parts,
                         "bytes": max((numbers + results) * number, least)}, 1


# As profile/cost/time/pooling.cpp has them: of a number, and for each of its window.
CLOCKS_OF_POOLS = {("avg_pool2d", "forward"): (2.4, 0.088), ("avg_pool2d", "backward"): (4.5, 0.34),
                   ("max_pool2d", "forward"): (2.4, 0.2), ("max_pool2d", "backward"): (2.5, 0.17)}
CLOCKS_OF_POOLS_LAST = {("avg_pool2d", "forward"): (3.9, 0.15), ("avg_pool2d", "backward"): (4.8, 0.42),
                        ("max_pool2d", "forward"): (0, 0.6), ("max_pool2d", "backward"): (0, 1.2)}
RECORDED_WINDOWS = {"max_pool2d": (3, 2, 1), "avg_pool2d": (2, 2, 0), "nearest": (2,)}


def resampling(kind, direction, sizes, number, scale, channels_last):
    """As profile/cost/time/pooling.cpp has it."""
    batch, channels, height, width = sizes
    into, out = math.prod(sizes), math.prod(sizes) * scale ** 2
    turns, launches = 0, 1
    if kind == "nearest" and direction == "forward":
        clocks = out * (1.53 if channels_last else 0.63)
    elif kind == "nearest":
        clocks = out * 0.87 if channels_last else 0
        turns = 0 if channels_last else batch * (1540 + 196 * scale ** 2) * max(into / batch / (2048 * MULTIPROCESSORS), 1)
    elif direction == "forward":
        clocks, places = out * 2.25 if channels_last else 0, height * width * scale ** 2
        turns = 0 if channels_last else batch * channels * 705 * max(places / (2048 * MULTIPROCESSORS), 1)
    else:
        clocks, launches = out * (2.65 * scale if number < 4 else 2.4), 2
    return "pooling", {"bytes": max((into + out) * number, round(bytes_of_clocks(clocks / MULTIPROCESSORS + turns)))}, launches


def pooling(name, direction, sizes, number, window, channels_last):
    if name not in ("avg_pool2d", "max_pool2d"):
        return resampling(name, direction, sizes, number, window[0], channels_last)
    width, stride, padding = window
    numbers, is_maximum = math.prod(sizes), name == "max_pool2d"
    out = math.prod(sizes[:2]) * math.prod((size + 2 * padding - width) // stride + 1 for size in sizes[2:])
    clocks, of_window = (CLOCKS_OF_POOLS_LAST if channels_last else CLOCKS_OF_POOLS)[name, direction]
    total = numbers * number + out * (number + 8 * is_maximum)
    made, covered = out, width ** 2
    if direction == "backward":
        total, made, covered = total + numbers * number, numbers, max((width / stride) ** 2, 1)
    least = bytes_of_clocks(made * (clocks + of_window * covered) / MULTIPROCESSORS)
    return "pooling", {"bytes": max(total, round(least))}, 1 + (is_maximum and direction == "backward")


def loss(operation, p, cache):
    name, direction = operation.rsplit("_", 1)
    name = "nearest" if name == "interpolate" else name
    number, numbers = BYTES[p["dtype"]], math.prod(p["sizes"])
    if name == "dropout":
        drawn = bytes_beside(numbers, DRAWN_PER_CLOCK) if direction == "forward" else 0
        return "elementwise", {"bytes": numbers * (2 * number + 1) + drawn}, 1
    if name not in RECORDED_WINDOWS:
        return None
    channels_last = p.get("memory_format") == "channels_last"
    return pooling(name, direction, p["sizes"], number, RECORDED_WINDOWS[name], channels_last)


def indexing(operation, p, cache):
    rows, width, count = p["table"]
    if operation not in ("embedding", "index_select"):
        return None
    number = BYTES[p["dtype"]]
    least = (bytes_of_clocks(CLOCKS_OF_BLOCK * count) if width * number % 16 == 0 else
             bytes_beside(count * width, ONE_BY_ONE_PER_CLOCK))
    return "gather", {"bytes": max(2 * count * width * number + 8 * count, round(least))}, 1


FAMILIES = {"matmul": matmul, "attention": attention, "convolution": convolution, "elementwise": elementwise,
            "movement": movement, "normalization": normalization, "reduction": reduction, "loss": loss,
            "indexing": indexing}


def sum_apart(results, length, bytes_read):
    """As profile/cost/time/sums.cpp has it."""
    height = min(1 << results.bit_length() - 1, 16)
    values = -(-length // (512 // height))
    if values >= min(16 * height, 256):
        values = -(-length // 512)
    parts = 1 if values < 256 else -(-values // 16)
    least = bytes_of_clocks(max(339 * -(-values // parts), results * length / (1.84 * MULTIPROCESSORS)))
    return {"rows": results * parts, "length": length // parts, "bytes": max(bytes_read, round(least))}


def sum_of(sizes, number, channels_last, dimensions):
    """Of images over their places, or over those and the images; of rows."""
    numbers = math.prod(sizes)
    read = max(numbers * number, bytes_beside(numbers, HALVES_PER_CLOCK) if number < 4 else 0)
    if dimensions == (0, 2, 3) and sizes[0] > 1:
        made = sum_across if channels_last else sum_apart
        return "reduction", made(sizes[1], numbers // sizes[1], read), 1
    return ("reduction", sum_across(sizes[2], numbers // sizes[2], read), 1) if dimensions == (0, 1) else None


def single_call(call, phase):
    """(class, work, launches) of a single call of truth/measured/single_calls.py, or None."""
    sizes, dtype, channels_last = call.tensors[0]
    number = BYTES[dtype]
    if call.function in ("avg_pool2d", "max_pool2d"):
        return pooling(call.function, phase, sizes, number, call.arguments, channels_last)
    if call.function == "interpolate":
        return resampling(call.arguments[1], phase, sizes, number, call.arguments[0], channels_last)
    if call.function == "sum" and phase == "forward":
        return sum_of(sizes, number, channels_last, *call.arguments)
    if call.family == "copy_across" and phase == "forward":
        return "copy", {"bytes": 2 * math.prod(sizes) * max(number, 4)}, 1
    return None
