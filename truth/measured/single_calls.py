#!/usr/bin/env python3
"""Single calls of PyTorch on a real GPU, forward and backward, beside what symprof says of the same calls.

    python truth/measured/single_calls.py --export             # single_calls.zip: a program for each call; PyTorch, no GPU
    python truth/measured/single_calls.py --record ROWS.json   # on the GPU; PyTorch alone
    python3 truth/measured/single_calls.py SYMPROF [--each] [--check]    # estimates beside single_calls_h200.json

The calls are those whose kernels whole steps showed to be off (blind_steps.py): poolings, sums over several dimensions,
convolutions with biases and in groups, norms of few groups, batch norms of rows, copies across, thin products, and others.
Sizes are drawn. Constants of the program's rules may come from the development split, every second call of a kind; the other
judges. A call's time is that of its kernels (CUPTI), each call behind 256 MiB of other data."""
import argparse
import collections
import json
import pathlib
import random
import re
import statistics
import sys
import tempfile
import zipfile

from estimates import Refused, profiled

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "h200"))
PROGRAMS, ROWS = HERE / "single_calls.zip", HERE / "single_calls_h200.json"
REPEATS, FLUSHED_BYTES, FLUSH = 6, 256 << 20, "FillFunctor<short>"
FP32, BF16 = "float32", "bfloat16"
LARGEST = 40e6  # numbers of one tensor

Call = collections.namedtuple("Call", "family function arguments tensors")  # tensors: (sizes, dtype, channels last)


def image(draw, largest_batch=64, channels=(16, 24, 32, 64, 72, 96, 128, 192, 256, 320, 512)):
    while True:
        sizes = (draw.choice((1, 2, 8, 16, 24, 32, largest_batch)), draw.choice(channels), *[draw.choice((7, 14, 16, 28, 32, 56, 64, 112))] * 2)
        numbers = sizes[0] * sizes[1] * sizes[2] ** 2
        if 1e5 < numbers < LARGEST:
            return sizes


def poolings(draw):
    for number in range(26):
        window = draw.choice(((3, 1, 1), (2, 2, 0), (3, 2, 1), (5, 1, 2), (7, 1, 3), (3, 1, 1)))
        yield Call("avg_pool", "avg_pool2d", window, [(image(draw), draw.choice((FP32, BF16)), number % 4 == 3)])
    for number in range(12):
        window = draw.choice(((3, 1, 1), (2, 2, 0), (3, 2, 1), (5, 1, 2)))
        yield Call("max_pool", "max_pool2d", window, [(image(draw), draw.choice((FP32, BF16)), number % 4 == 3)])
    for number in range(16):
        kind = ("nearest", "bilinear")[number % 2]
        yield Call(f"upsample_{kind}", "interpolate", (draw.choice((2, 2, 4)), kind),
                   [(image(draw, 16, (18, 32, 64, 128)), draw.choice((FP32, BF16)), number % 5 == 4)])


def sums(draw):
    for number in range(22):
        yield Call("sum_of_channels", "sum", ((0, 2, 3),), [(image(draw), draw.choice((FP32, BF16)), number % 4 == 3)])
    for number in range(10):
        yield Call("sum_of_places", "sum", ((2, 3),), [(image(draw), draw.choice((FP32, BF16)), number % 4 == 3)])
    for number in range(10):
        sizes = (draw.choice((8, 16, 48, 64)), draw.choice((49, 196, 197, 256, 512)), draw.choice((64, 192, 384, 768, 1000, 1024)))
        yield Call("sum_of_rows", "sum", ((0, 1),), [(sizes, draw.choice((FP32, BF16)), False)])
    for _ in range(6):
        yield Call("sum_of_all", "sum", (None,), [(image(draw), draw.choice((FP32, BF16)), False)])


def convolutions(draw):
    made = 0
    while made < 48:
        grouped = made % 2 == 1
        batch, channels, size, _ = image(draw, 32)
        kernel = 3 if grouped else draw.choice((1, 1, 3))
        stride, groups = draw.choice((1, 1, 1, 2)), 1
        out_channels = draw.choice((32, 64, 128, 256, 512))
        if grouped:
            width = draw.choice((8, 16, 24, 40, 48, 64))
            groups = draw.choice((2, 3, 6, 9, 16, 24))
            channels = out_channels = width * groups
        if batch * max(channels, out_channels) * size * size > LARGEST or 2 * batch * channels * out_channels // groups * (size * kernel) ** 2 > 2e11:
            continue
        dtype, last = ((FP32, False), (BF16, False), (FP32, False), (BF16, True))[made // 2 % 4]
        bias = [((out_channels,), dtype, False)] if not grouped else []
        yield Call("convolution_grouped" if grouped else "convolution_bias", "conv2d", (stride, kernel // 2, groups),
                   [((batch, channels, size, size), dtype, last), ((out_channels, channels // groups, kernel, kernel), dtype, last), *bias])
        made += 1


def norms(draw):
    for number in range(20):
        sizes = image(draw, 32, (64, 96, 128, 192, 320, 512))
        yield Call("group_norm", "group_norm", (draw.choice((1, 1, 8, 32)),), [(sizes, draw.choice((FP32, BF16)), False), *[((sizes[1],), FP32, False)] * 2])
    for number in range(20):
        sizes = (draw.choice((512, 2048, 6272, 12544, 25088, 50176)), draw.choice((32, 64, 128, 256, 384, 512, 1280)))
        yield Call("batch_norm_rows", "batch_norm", (), [(sizes, draw.choice((FP32, FP32, BF16)), False), *[((sizes[1],), FP32, False)] * 2])


def copies(draw):
    for number in range(20):
        sizes = (draw.choice((2, 8, 16, 32, 48)), *draw.choice(((196, 768), (768, 196), (49, 512), (256, 1024), (1000, 64), (384, 3136), (197, 197))))
        yield Call("copy_across", "transposed", (1, 2), [(sizes, draw.choice((FP32, BF16)), False)])
    for number in range(12):
        sizes = (draw.choice((2, 8, 16, 32, 48)), *draw.choice(((196, 768), (768, 196), (49, 512), (256, 1024), (384, 3136))))
        yield Call("cast_across", "transposed_cast", (1, 2), [(sizes, FP32, False)])
    for number in range(12):
        sizes = (draw.choice((2, 8, 16)), draw.choice((49, 196, 197, 256)), *draw.choice(((12, 64), (8, 32), (16, 64), (3, 32))))
        yield Call("copy_of_heads", "transposed", (1, 2), [(sizes, draw.choice((FP32, BF16)), False)])
    for number in range(10):
        yield Call("cat", "cat", (1,), [(image(draw, 16), draw.choice((FP32, BF16)), False)] * draw.choice((2, 3)))
    for number in range(8):
        size, heads = draw.choice((7, 8, 14)), draw.choice((3, 6, 12, 16))
        yield Call("relative_position", "relative_position", (size,), [(((2 * size - 1) ** 2, heads), FP32, False)])


def products(draw):
    for number in range(26):
        k, n = draw.choice(((8, 8), (4, 16), (16, 4), (32, 2), (8, 32), (48, 8), (64, 1), (3, 64)))
        rows = draw.choice((20000, 100352, 300000, 614656))
        dtype = draw.choice((FP32, BF16))
        yield Call("product_thin", "linear", (), [((rows, k), dtype, False), ((n, k), dtype, False)])
    for number in range(12):
        heads, width = draw.choice(((8, 48), (6, 64), (12, 64), (4, 32)))
        length, batch, dtype = draw.choice((49, 196, 197, 256, 400)), draw.choice((4, 16, 32)), (FP32, BF16)[number % 2]
        lengths = [((batch, heads, length, width), dtype, False)] * 3
        bias = [((1, heads, length, length), dtype, False)] if number % 3 else [((batch, heads, length, length), dtype, False)]
        yield Call("attention_bias", "attention", (), [*lengths, *bias])
    for number in range(12):
        batch, rows, k, n = draw.choice((8, 64, 128, 192)), draw.choice((49, 196, 197)), draw.choice((32, 48, 64, 196)), draw.choice((32, 49, 64, 196))
        dtype = draw.choice((FP32, BF16))
        yield Call("product_batched", "matmul", (), [((batch, rows, k), dtype, False), ((batch, k, n), dtype, False)])


def stacks(draw):
    """What the gradients of queries, keys and values become where one product made them."""
    for number in range(10):
        sizes = (draw.choice((2, 8, 16, 32)), draw.choice((49, 196, 197, 256)), *draw.choice(((12, 64), (6, 64), (8, 32), (16, 64))))
        yield Call("stack_across", "stack_transposed", (1, 2), [(sizes, draw.choice((FP32, BF16)), False)] * 3)


def calls():
    """{name: call}; the same each time."""
    found = {}
    for number, family in enumerate((poolings, sums, convolutions, norms, copies, products, stacks)):
        for call in family(random.Random(number)):
            sizes = "_".join("x".join(map(str, sizes)) for sizes, *_ in call.tensors[:2])
            _, dtype, last = call.tensors[0]
            arguments = "".join(str(call.arguments).replace(" ", "").replace("'", ""))
            found.setdefault(f"{call.family} {arguments} {sizes} {dtype}{' channels last' if last else ''}", call)
    return found


def computed(call, tensors):
    import torch
    from torch.nn import functional
    x, arguments = tensors[0], call.arguments
    made = {
        "avg_pool2d": lambda: functional.avg_pool2d(x, *arguments, count_include_pad=False),
        "max_pool2d": lambda: functional.max_pool2d(x, *arguments),
        "interpolate": lambda: functional.interpolate(x, scale_factor=float(arguments[0]), mode=arguments[1]),
        "sum": lambda: x.sum() if arguments[0] is None else x.sum(arguments[0]),
        "conv2d": lambda: functional.conv2d(x, tensors[1], *(tensors[2:] or (None,)), arguments[0], arguments[1], 1, arguments[2]),
        "group_norm": lambda: functional.group_norm(x, *arguments, *(t.to(x.dtype) for t in tensors[1:])),
        "batch_norm": lambda: functional.batch_norm(x, None, None, *tensors[1:], training=True),
        "transposed": lambda: x.transpose(*arguments).contiguous(),
        "transposed_cast": lambda: x.transpose(*arguments).to(torch.bfloat16).contiguous(),
        "cat": lambda: torch.cat(tensors, *arguments),
        "stack_transposed": lambda: torch.stack([tensor.transpose(*arguments) for tensor in tensors]),
        "relative_position": lambda: x[relative_positions(arguments[0], x.device)],
        "linear": lambda: functional.linear(x, tensors[1]),
        "matmul": lambda: torch.matmul(x, tensors[1]),
        "attention": lambda: functional.scaled_dot_product_attention(*tensors[:3], attn_mask=tensors[3]),
    }
    return made[call.function]()


def relative_positions(size, device):
    """Of a window's places, as Swin and BEiT have them: [size ** 4]."""
    import torch
    places = torch.arange(size, device=device)
    across = places[:, None] - places[None, :] + size - 1
    return (across[:, None, :, None] * (2 * size - 1) + across[None, :, None, :]).permute(1, 0, 2, 3).reshape(-1)


def module_of(call, device, others=0):
    """`others`: numbers of a parameter that the call does not use, so that a step's operands have no room in the L2 cache."""
    import torch

    def made(sizes, dtype, last):
        tensor = torch.randn(sizes, device=device, dtype=getattr(torch, dtype))
        tensor = tensor.contiguous(memory_format=torch.channels_last) if last and tensor.dim() == 4 else tensor
        return torch.nn.Parameter(tensor)

    class One(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.given = torch.nn.ParameterList(made(*tensor) for tensor in call.tensors)
            self.others = torch.nn.Parameter(torch.empty(others, device=device)) if others else None

        def forward(self, nothing):
            return computed(call, list(self.given))

    return One()


def export():
    import torch
    from memory.exports import archive_without_weights
    from torch._subclasses.fake_tensor import FakeTensorMode
    with zipfile.ZipFile(PROGRAMS, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for number, (name, call) in enumerate(calls().items()):
            with FakeTensorMode():
                program = torch.export.export(module_of(call, "cpu", FLUSHED_BYTES // 4), (torch.zeros(1),), strict=False)
            data = archive_without_weights(program, "one")
            archive.writestr(zipfile.ZipInfo(f"{number}.pt2", date_time=(1980, 1, 1, 0, 0, 0)), data)
    print(f"{len(calls())} programs")


def kernels_of(run):
    """Microseconds of each kernel of `run` behind a flush: a list for each repeat, in the order in which they began."""
    import torch
    other = torch.empty(FLUSHED_BYTES // 2, dtype=torch.int16, device="cuda")
    run()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(REPEATS):
            other.fill_(1)
            run()
        torch.cuda.synchronize()
    times = []
    for event in sorted((e for e in profile.events() if e.device_type == torch.autograd.DeviceType.CUDA), key=lambda e: e.time_range.start):
        if FLUSH in event.name:
            times.append([])
        elif times:
            times[-1].append(event.device_time_total)
    return times


def measured(call):
    import torch
    module, nothing = module_of(call, "cuda"), torch.zeros(1, device="cuda")
    output = module(nothing)
    gradient = torch.randn_like(output)
    passes = {"forward": lambda: module(nothing),
              "backward": lambda: torch.autograd.grad(output, list(module.parameters()), gradient, retain_graph=True)}
    row = {}
    for phase, run in passes.items():
        times = kernels_of(run)
        row[f"{phase}_us"] = statistics.median(map(sum, times))
        row[f"{phase}_kernels"] = statistics.median_low(map(len, times))
    return row


def record(path, only):
    """Rows of other calls that are in the file stay."""
    import torch
    torch.manual_seed(0)
    path = pathlib.Path(path)
    document = json.loads(path.read_text()) if path.exists() else {"rows": {}}
    document |= {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for name, call in ((name, call) for name, call in calls().items() if re.search(only, name)):
        try:
            document["rows"][name] = measured(call)
        except RuntimeError as error:
            document["rows"][name] = {"error": str(error).splitlines()[0]}
        path.write_text(json.dumps(document, indent=0) + "\n")
    print(f"{len(document['rows'])} calls, {sum('error' in row for row in document['rows'].values())} refused")


def estimated(symprof, path, device):
    """{phase: microseconds} of the module's kernels."""
    try:
        nodes = profiled(symprof, path, "--device", device, "--alloc-conf", "torch:2.11")["nodes"]
    except Refused as refused:
        return {"error": str(refused).splitlines()[0]}
    found = collections.Counter()
    for node in nodes:
        for call in node["calls"]:
            if call["op"] not in BESIDE and call["time_us"]:
                found[call["phase"]] += call["time_us"]
    return found


# A cast's gradient is copied into the parameter's layout, which the recorder does not ask for.
NOT_MEASURED = {("cast_across", "backward")}
BESIDE = ("aten::ones_like", "aten::zeros_like")  # the output's gradient


def looked_at():
    """Names of every second call of each family, in the order in which they are drawn."""
    of_family = collections.defaultdict(list)
    for name, call in calls().items():
        of_family[call.family].append(name)
    return {name for names in of_family.values() for name in names[::2]}


# Kinds of calls whose kernels cuDNN and cuBLAS choose, or that no rule was made for; others may be off by so much in the median
# of the held-out split.
OTHERS = ("convolution", "product", "batch_norm_rows", "copy_of_heads", "sum_of_all")
MOST_OFF = 0.2


def compare(symprof, device, each, check):
    rows = json.loads(ROWS.with_name(f"single_calls_{device}.json").read_text())["rows"]
    errors, half_of = collections.defaultdict(list), looked_at()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(PROGRAMS) as archive:
        archive.extractall(folder)
        for number, (name, call) in enumerate(calls().items()):
            if check and (name in half_of or call.family.startswith(OTHERS)):
                continue
            row, found = rows[name], estimated(symprof, f"{folder}/{number}.pt2", device)
            if "error" in row or "error" in found:
                print(name, row.get("error"), found.get("error"))
                continue
            half = "looked at" if name in half_of and device == "h200" else "judges"
            for phase in ("forward", "backward"):
                if (call.family, phase) in NOT_MEASURED:
                    continue
                if row[f"{phase}_us"] and found[phase]:
                    off = found[phase] / row[f"{phase}_us"] - 1
                    errors[call.family, phase, half].append(off)
                    if each:
                        print(f"{name} {phase} ({half}): {row[f'{phase}_us']:.1f} us in {row[f'{phase}_kernels']}, estimated {found[phase]:.1f} ({off:+.0%})")
    print("| calls | pass | half | calls | off, median | without its sign | 90th percentile |\n| --- | --- | --- | ---: | ---: | ---: | ---: |")
    for (family, phase, half), found in sorted(errors.items()):
        sizes = sorted(map(abs, found))
        print(f"| {family} | {phase} | {half} | {len(found)} | {statistics.median(found):+.0%} | {statistics.median(sizes):.0%} "
              f"| {sizes[int(0.9 * (len(sizes) - 1))]:.0%} |")
    return check and any(half == "judges" and not family.startswith(OTHERS) and statistics.median(map(abs, found)) > MOST_OFF
                         for (family, _, half), found in errors.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("symprof", nargs="?")
    parser.add_argument("--export", action="store_true")
    parser.add_argument("--record", metavar="ROWS")
    parser.add_argument("--only", default="", help="calls to record whose name this regular expression finds")
    parser.add_argument("--device", default="h200", choices=("h200", "h100"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--each", action="store_true", help="a line for each call, too")
    given = parser.parse_args()
    if given.export:
        return export()
    if given.record:
        return record(given.record, given.only)
    return compare(given.symprof, given.device, given.each, given.check)


if __name__ == "__main__":
    sys.exit(main())
