"""Operators with quantized operands. onnxruntime rounds integers after single-precision arithmetic in an order of
its own, so that results of 8 bits may be one step apart."""
import ml_dtypes
import numpy as np
from attention_cases import HEADS, HIDDEN
from entry import Random, entry, scalar

import references

STEP = dict(rtol=0.0, atol=1.0)


def elementwise_entries():
    for dtype, form in ((np.uint8, "uint8"), (np.int8, "int8")):
        random = Random(f"elementwise {form}")
        x, y = random.bytes(2, 3, 4, dtype=dtype), random.bytes(3, 4, dtype=dtype)
        zero = lambda value: scalar(value, dtype)
        one = [x, scalar(0.05), zero(3)]
        two = [*one, y, scalar(0.03), zero(7)]
        yield entry("QLinearAdd", form, [*two, scalar(0.08), zero(5)], **STEP)
        yield entry("QLinearMul", form, [*two, scalar(0.2), zero(5)], **STEP)
        yield entry("QLinearSigmoid", form, [*one, scalar(0.01), zero(2)], constant=(1, 2, 3, 4), **STEP)
        yield entry("QLinearLeakyRelu", form, [*one, scalar(0.06), zero(2)], constant=(1, 2, 3, 4), alpha=0.2, **STEP)
        yield entry("QLinearSoftmax", form, [*one, scalar(1 / 256), zero(0)], opset=13, axis=-1,
                    constant=(1, 2, 3, 4), **STEP)
        parts = [scalar(0.1), zero(4), x, scalar(0.05), zero(3), random.bytes(2, 1, 4, dtype=dtype), scalar(0.2),
                 zero(9)]
        yield entry("QLinearConcat", form, parts, axis=1, constant=(0, 1, 3, 4, 6, 7), **STEP)
        image = [random.bytes(2, 3, 6, 6, dtype=dtype), scalar(0.05), zero(3), scalar(0.04), zero(6)]
        yield entry("QLinearGlobalAveragePool", form, image, constant=(1, 2, 3, 4), **STEP)
        yield entry("QLinearAveragePool", form, image, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1],
                    constant=(1, 2, 3, 4), **STEP)
        yield entry("MulInteger", form, [x, zero(3), y, zero(7)], reference=references.integer_product)
    random = Random("elementwise")
    condition = random.integers(0, 2, 2, 3, dtype=np.bool_)
    yield entry("QLinearWhere", "", [condition, random.bytes(2, 3), scalar(0.05), scalar(3, np.uint8),
                                     random.bytes(2, 3), scalar(0.1), scalar(9, np.uint8), scalar(0.1),
                                     scalar(4, np.uint8)], constant=(2, 3, 5, 6, 7, 8), **STEP)
    last = [random.bytes(2, 6, 6, 3), scalar(0.05), scalar(3, np.uint8), scalar(0.04), scalar(6, np.uint8)]
    yield entry("QLinearGlobalAveragePool", "channels_last", last, channels_last=1, constant=(1, 2, 3, 4), **STEP)
    yield entry("QLinearAveragePool", "channels_last", last, kernel_shape=[2, 2], channels_last=1,
                constant=(1, 2, 3, 4), **STEP)
    x = random.reals(2, 3, 4)
    scale, zero = scalar(0.02), scalar(100, np.uint8)
    yield entry("QuantizeLinear", "", [x, scale, zero], **STEP)
    yield entry("DequantizeLinear", "", [random.bytes(2, 3), scale, zero])
    yield entry("DequantizeLinear", "of_an_axis", [random.bytes(2, 3), random.positive(3), random.bytes(3)], axis=1)


def product_entries():
    random = Random("quantized products")
    a, b = random.bytes(2, 3, 4), random.bytes(4, 5)
    scales, zeros = random.positive(5) / 100, random.bytes(5)
    bias = random.reals(5)
    one_scale, one_zero = scalar(0.02), scalar(120, np.uint8)
    yield entry("MatMulIntegerToFloat", "", [a, b, scalar(0.05), one_scale, scalar(99, np.uint8), one_zero, bias])
    yield entry("MatMulIntegerToFloat", "columns", [a, b, scalar(0.05), scales, scalar(99, np.uint8), zeros])
    x = random.reals(2, 3, 4)
    yield entry("DynamicQuantizeMatMul", "", [x, b, one_scale, one_zero, bias], atol=1e-3)
    yield entry("DynamicQuantizeMatMul", "columns", [x, b, scales, zeros], atol=1e-3)
    gemm = [random.bytes(3, 4), scalar(0.05), scalar(99, np.uint8), random.bytes(5, 4), scales, zeros]
    c = random.integers(-3000, 3000, 5)
    yield entry("QGemm", "to_float", [*gemm, c], transB=1, constant=(3, 4, 5))
    yield entry("QGemm", "", [*gemm, c, scalar(0.3), scalar(128, np.uint8)], transB=1, alpha=0.5, constant=(3, 4, 5),
                **STEP)
    convolution = [random.bytes(1, 5, 5, 4), scalar(0.02), one_zero, random.bytes(6, 4, 3, 3), scalar(0.01),
                   scalar(110, np.uint8), scalar(0.2), scalar(50, np.uint8), random.integers(-500, 500, 6)]
    yield entry("QLinearConv", "channels_last", convolution, channels_last=1, pads=[1, 1, 1, 1],
                constant=(1, 2, 3, 4, 5, 6, 7, 8), **STEP)
    width = 3 * HIDDEN
    attention = [random.bytes(2, 5, HIDDEN), random.bytes(HIDDEN, width), random.reals(width), scalar(0.01),
                 scalar(0.02), None, scalar(128, np.uint8), scalar(120, np.uint8)]
    yield entry("QAttention", "", attention, num_heads=HEADS)
    mask = np.array([3, 5], np.int32)
    yield entry("QAttention", "lengths", [*attention[:5], mask, *attention[6:]], num_heads=HEADS)
    yield entry("QAttention", "causal", attention, num_heads=HEADS, unidirectional=1)
    past = random.reals(2, 2, HEADS, 3, HIDDEN // HEADS)
    yield entry("QAttention", "past", [*attention, past], 2, num_heads=HEADS, unidirectional=1)
    columns = [*attention[:4], random.positive(width) / 50, None, attention[6], random.bytes(width)]
    yield entry("QAttention", "columns", columns, num_heads=HEADS)


def blockwise_entries():
    def one(form, n, k, block, bits, zero=None, bias=False, rows=(2, 3), dtype=np.float32, **more):
        random = Random(f"MatMulNBits {form}")
        blocks = -(-k // block)
        inputs = [random.reals(*rows, k, dtype=dtype), random.bytes(n, blocks, block * bits // 8),
                  random.positive(n, blocks, dtype=dtype) / 10]
        if zero == "packed":
            inputs.append(random.bytes(n, -(-blocks * bits // 8)))
        elif zero == "real":
            inputs.append(random.integers(0, 1 << bits, n, blocks).astype(dtype))
        if bias:
            inputs += [None] * (5 - len(inputs)) + [random.reals(n, dtype=dtype)]
        return entry("MatMulNBits", form, inputs, constant=range(1, len(inputs)), N=n, K=k, block_size=block, bits=bits,
                     **more)

    yield one("4_bits", 5, 32, 16, 4)
    yield one("4_bits_zero_points", 5, 64, 16, 4, zero="packed")
    yield one("4_bits_odd_blocks", 5, 48, 16, 4, zero="packed")
    yield one("4_bits_part_of_a_block", 5, 40, 32, 4, zero="packed")
    yield one("4_bits_real_zero_points", 5, 32, 16, 4, zero="real")
    yield one("4_bits_bias", 5, 32, 16, 4, bias=True)
    yield one("8_bits", 5, 32, 16, 8, zero="packed")
    yield one("2_bits", 8, 64, 16, 2)
    random = Random("GatherBlockQuantized")
    indices = random.integers(0, 7, 2, 3, dtype=np.int64)
    for bits in (4, 8):
        table, scales = random.bytes(7, 32 * bits // 8), random.positive(7, 2)
        yield entry("GatherBlockQuantized", f"{bits}_bits", [table, indices, scales], bits=bits, block_size=16,
                    quantize_axis=1, gather_axis=0, constant=(0, 2))
        zeros = random.bytes(7, 2 * bits // 8)
        yield entry("GatherBlockQuantized", f"{bits}_bits_zero_points", [table, indices, scales, zeros], bits=bits,
                    block_size=16, quantize_axis=1, gather_axis=0, constant=(0, 2, 3))
    for dtype in (ml_dtypes.uint4, ml_dtypes.int4):
        form = np.dtype(dtype).name
        low, high = (0, 16) if form == "uint4" else (-8, 8)
        table = random.integers(low, high, 7, 32).astype(dtype)
        zeros = random.integers(low, high, 7, 2).astype(dtype)
        more = dict(block_size=16, quantize_axis=1, gather_axis=0)
        yield entry("GatherBlockQuantized", form, [table, indices, random.positive(7, 2)], constant=(0, 2), **more)
        yield entry("GatherBlockQuantized", f"{form}_zero_points", [table, indices, random.positive(7, 2), zeros],
                    constant=(0, 2, 3), **more)


def entries():
    yield from elementwise_entries()
    yield from product_entries()
    yield from blockwise_entries()
