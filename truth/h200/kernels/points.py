"""The sweep: which operator is measured at which sizes. Data only; families/ makes the calls."""
import collections
import json
import random

from kernels.families import attention, convolution, elementwise, indexing, loss, matmul
from kernels.families import movement, normalization, optimizers, recurrent, reduction

FAMILIES = {
    "matmul": matmul, "convolution": convolution, "attention": attention,
    "normalization": normalization, "elementwise": elementwise, "reduction": reduction,
    "movement": movement, "indexing": indexing, "loss": loss, "optimizers": optimizers,
    "recurrent": recurrent,
}

# One measurement. `parameters` are what families/<family>.py needs to make the call; flops and
# bytes_moved are its own lower bounds, used for the time estimate and for choosing flushed points.
Point = collections.namedtuple(
    "Point", "family operation parameters flops bytes_moved cache repetition")

# The H200's L2 holds 50 to 60 MB: a point that moves less is measured both with its operands in L2
# (repeated calls leave them there) and after 256 MB of other data went through it.
FLUSHED_BYTES = range(1 << 20, 48 << 20)
FLUSHED_EVERY = 4
REPEATED_EVERY = 30


def key(point):
    parameters = json.dumps(point.parameters, sort_keys=True, separators=(",", ":"))
    return f"{point.family}/{point.operation}/{parameters}/{point.cache}/{point.repetition}"


def base_points(small):
    for family, module in FAMILIES.items():
        for operation, parameters, flops, bytes_moved in module.points(small):
            yield Point(family, operation, parameters, flops, bytes_moved, "repeated", 0)


def with_flushed(points, small):
    fits = [p for p in points if p.bytes_moved in FLUSHED_BYTES]
    return points + [p._replace(cache="flushed") for p in (points[:4] if small else fits[::FLUSHED_EVERY])]


def first_sweep(small=False):
    """Every point once, then the repetitions. The order is shuffled by a fixed seed: an
    interrupted run then covers every family, and a drift of the clocks hides in no single one."""
    points = with_flushed(list(base_points(small)), small)
    random.Random(0).shuffle(points)
    return points + [p._replace(repetition=1) for p in points[::REPEATED_EVERY]]


# Families of the second sweep, the most wanted first.
SECOND = ("recurrent", "convolution", "normalization", "loss", "matmul", "indexing")


def second_sweep(small=False):
    """More points where the first left few for a class of kernels, shuffled within a family, then the repetitions."""
    known, points = {key(p) for p in first_sweep(small)}, []
    for family in SECOND:
        made = [Point(family, *more, "repeated", 0) for more in FAMILIES[family].more_points(small)]
        made = [p for p in with_flushed(made, False) if key(p) not in known]
        random.Random(2).shuffle(made)
        points += made
    return points + [p._replace(repetition=1) for p in points[::REPEATED_EVERY] if p.family != "recurrent"]


# Families with kernels that small networks have: a few microseconds each, less than a wave of blocks.
TINY = ("matmul", "convolution", "attention", "normalization", "reduction")


def third_sweep(small=False):
    """Kernels of small networks, with their operands in L2, shuffled, then the repetitions."""
    points = {key(p): p for family in TINY
              for p in (Point(family, *tiny, "repeated", 0) for tiny in FAMILIES[family].tiny_points(small))}
    for known in (first_sweep, second_sweep):
        for point in known(small):
            points.pop(key(point), None)
    points = list(points.values())
    random.Random(5).shuffle(points)
    return points + [p._replace(repetition=1) for p in points[::REPEATED_EVERY]]


SWEEPS = {1: first_sweep, 2: second_sweep, 3: third_sweep}


# Nominal rates for the estimate only (dense, NVIDIA's data sheet of the H200 SXM): FLOP/s, bytes/s.
NOMINAL_FLOPS = {"float32": 50e12, "tf32": 350e12, "bfloat16": 600e12, "float16": 600e12,
                 "float8_e4m3fn": 1100e12}
NOMINAL_BYTES = 3.5e12
CALLS_PER_POINT = 14        # warm-up, timing call, repeats: the least a point gets
FIXED_SECONDS = {"attention": 0.25, "convolution": 0.12, "optimizers": 0.1, "recurrent": 0.2}  # plans are built
OTHER_FIXED_SECONDS = 0.05  # operands, launches, the trace written and read


def estimated_seconds(point):
    rate = NOMINAL_FLOPS.get(point.parameters.get("dtype"), 50e12)
    once = point.flops / rate + point.bytes_moved / NOMINAL_BYTES
    return once * CALLS_PER_POINT + FIXED_SECONDS.get(point.family, OTHER_FIXED_SECONDS)


def listing(points):
    """Lines of a table: points and estimated seconds by family."""
    count, seconds = collections.Counter(), collections.Counter()
    for point in points:
        count[point.family] += 1
        seconds[point.family] += estimated_seconds(point)
    rows = [(family, count[family], seconds[family]) for family in FAMILIES]
    rows.append(("total", sum(count.values()), sum(seconds.values())))
    return [f"{'family':<15}{'points':>8}{'estimated s':>13}"] + [
        f"{family:<15}{number:>8}{time:>13.1f}" for family, number, time in rows]
