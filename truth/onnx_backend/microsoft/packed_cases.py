"""Products with packed weights, int8 operators with an order of elements, and recurrent states. Newer operators have
no kernel in onnxruntime's CPU provider, so that most expected values are formulas."""
import ml_dtypes
import numpy as np
from entry import Random, entry, scalar

import references

STEP = dict(rtol=0.0, atol=1.0)
NONE = None


def packed(random, rows, columns, block):
    """A weight of 4 bits: bytes and scales."""
    blocks = -(-columns // block)
    return [random.bytes(rows, blocks, block // 2), random.positive(rows, blocks) / 10]


def product_entries():
    random = Random("packed products")
    for kind, form in ((0, "fp4"), (1, "nf4")):
        sizes = dict(N=5, K=32, block_size=16, quant_type=kind)
        weight = [random.bytes(80), random.positive(10)]
        yield entry("MatMulBnb4", form, [random.reals(2, 3, 32), *weight], constant=(1, 2), atol=1e-4, **sizes)
    n, k, block = 6, 32, 16
    sizes = dict(K=k, block_size=block, bits=4)
    x, skip, norm, bias = random.reals(2, 3, k), random.reals(2, 3, k), random.positive(k), random.reals(n)
    gate, up = packed(random, n, k, block), packed(random, n, k, block)
    bare = [x, NONE, NONE, *gate, NONE, *up]
    full = [x, skip, norm, *gate, bias, *up, bias]
    gated = dict(N=n, activation="silu", reference=references.gated_products, rtol=1e-3, atol=1e-3, **sizes)
    yield entry("MatMulNBitsMlp", "", bare, **gated)
    yield entry("MatMulNBitsMlp", "norm_and_sum", full, 2, **gated)
    heads = [x, NONE, norm, *gate, bias, *up, NONE, *packed(random, n, k, block)]
    yield entry("MatMulNBitsQkv", "", heads, 3, Nq=n, Nkv=n, reference=references.three_products, rtol=1e-3, atol=1e-3,
                **sizes)
    half = random.reals(2, 3, k, dtype=np.float16)
    float8 = random.reals(n, k).astype(ml_dtypes.float8_e4m3fn)
    yield entry("MatMulBlockQuantizedFp8Weight", "", [half, float8, random.positive(n, 2)], block_size=16,
                reference=references.matmul_float8, rtol=1e-2, atol=1e-2)
    scales = random.positive(n, 2).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    yield entry("MatMulBlockQuantizedFp4Weight", "", [half, random.bytes(n, k // 2), scales, scalar(0.5)],
                reference=references.matmul_float4, rtol=1e-2, atol=1e-2)
    yield entry("GemmFloat8", "", [random.reals(3, k), random.reals(n, k), random.reals(n), NONE, NONE, NONE], transB=1,
                alpha=0.5, beta=2.0, activation="RELU", dtype=1, reference=references.gemm_float8)


def ordered_entries():
    random = Random("ordered")
    x, a = random.reals(2, 3, 8), random.bytes(2, 3, 8, dtype=np.int8)
    orders = dict(order_input=1, order_output=1)
    yield entry("QuantizeWithOrder", "", [x, scalar(0.02)], reference=references.ordered, **orders, **STEP)
    yield entry("DequantizeWithOrder", "", [a, scalar(0.02)], to=1, reference=references.ordered, **orders)
    yield entry("QOrderedGelu", "", [a, scalar(0.02), scalar(0.03)], reference=references.ordered, **STEP)
    weights = [random.positive(8), random.reals(8)]
    yield entry("QOrderedLayerNormalization", "", [a, scalar(0.02), *weights, scalar(0.02)], axis=-1,
                reference=references.ordered, **STEP)
    product = [a, scalar(0.02), random.bytes(8, 5, dtype=np.int8), random.positive(5) / 50, scalar(0.3), random.reals(5)]
    rows = dict(order_A=1, order_B=1, order_Y=1, reference=references.ordered, **STEP)
    yield entry("QOrderedMatMul", "", product, **rows)
    yield entry("QOrderedMatMul", "sum", [*product, random.bytes(2, 3, 5, dtype=np.int8), scalar(0.1)], **rows)


def state_entries():
    random = Random("recurrent states")
    batch, steps, heads, keys, values = 2, 4, 2, 3, 5
    q, k, v = random.reals(batch, steps, heads * keys), random.reals(batch, steps, heads * keys) / 3, \
        random.reals(batch, steps, heads * values)
    decay, beta = -random.positive(batch, steps, heads), random.positive(batch, steps, heads) / 2
    state = random.reals(batch, heads, keys, values)
    sizes = dict(q_num_heads=heads, kv_num_heads=heads)
    for rule in ("linear", "gated", "delta", "gated_delta"):
        yield entry("LinearAttention", rule, [q, k, v, state, decay, beta], 2, update_rule=rule, **sizes)
    for window in (2, 6):
        states = np.stack([state + i for i in range(window)])
        yield entry("LinearAttention", f"window_{window}", [q, k, v, states, decay, beta], 2, state_window=window,
                    reference=references.linear_attention, **sizes)
    q3, k3, v3 = (x.reshape(batch * steps, heads, -1) for x in (q, k, v))
    v_major = np.ascontiguousarray(state.swapaxes(-1, -2))
    flat = [decay.reshape(-1, heads), beta.reshape(-1, heads)]
    yield entry("GatedDeltaNet", "", [q3, k3, v3, NONE, *flat, v_major], 2)
    gates = [random.reals(heads), random.reals(heads)]
    yield entry("GatedDeltaNet", "gates", [q3, k3, v3, NONE, *flat, v_major, *gates], 2, gate_activation="qwen",
                beta_activation="sigmoid", qk_l2_norm=1)
    yield entry("LinearAttentionGate", "", [decay, *gates, beta], 2)


def causal_entries():
    random = Random("causal convolutions")
    x, weight, bias = random.reals(2, 6, 5), random.reals(6, 1, 3), random.reals(6)
    past = random.reals(2, 6, 2)
    more = dict(activation="silu")
    yield entry("CausalConvWithState", "", [x, weight, bias, past], 2, **more)
    yield entry("CausalConvWithState", "without_state", [x, weight], 2)
    wide = random.reals(2, 6, 4)
    yield entry("CausalConvWithState", "dilated", [x, weight, bias, wide], 2, dilation=2, **more)
    last = [np.ascontiguousarray(x.swapaxes(1, 2)).reshape(2, 5, 2, 3), weight, bias,
            np.ascontiguousarray(past.swapaxes(1, 2)).reshape(2, 2, 2, 3)]
    yield entry("CausalConvWithState", "channels_last", last, 2, channels_last=1, **more)
    for window in (2, 7):
        states = np.stack([past + i for i in range(window)])
        yield entry("CausalConvWithState", f"window_{window}", [x, weight, bias, states], 2, state_window=window,
                    reference=references.causal_convolution, **more)
    rows = np.ascontiguousarray(x.transpose(0, 2, 1)).reshape(10, 6)
    ends = np.array([0, 5, 10], np.int32)
    yield entry("VarlenCausalConvWithState", "", [rows, weight, ends, bias, past], 2)


def other_entries():
    random = Random("other packed")
    x = random.reals(2, 4, 8)
    yield entry("BitmaskDropout", "", [x, scalar(0.5)], 2, reference=references.bit_mask_dropout)
    yield entry("BitmaskBiasDropout", "", [x, random.reals(8), random.reals(2, 4, 8), scalar(0.5)], 2,
                reference=references.bit_mask_dropout)
    yield entry("SampleOp", "", [x])
    ids = np.array([[1, 2, 3, 1, 2, 4, 1, 2], [0, 0, 0, 0, 0, 0, 0, 0]], np.int64)
    yield entry("NGramRepeatBlock", "", [ids, random.reals(2, 6)], ngram_size=3)
    yield entry("NGramRepeatBlock", "one", [ids, random.reals(2, 6)], ngram_size=1)
    table = [random.reals(9, 4), random.reals(9, 4)]
    positions = random.integers(0, 9, 3, 2, 5, dtype=np.int64)
    turned = dict(mrope_section=[2, 1, 1], num_heads=2)
    yield entry("MRotaryEmbedding", "", [random.reals(2, 5, 16), positions, *table], **turned)
    yield entry("MRotaryEmbedding", "interleaved_parts", [random.reals(2, 5, 16), positions, *table], mrope_layout=1,
                **turned)
    hidden, inputs = 3, 4
    w = [random.bytes(1, inputs, 4 * hidden), random.bytes(1, hidden, 4 * hidden)]
    numbers = [scalar(0.02).reshape(1), np.array([120], np.uint8), scalar(0.03).reshape(1), np.array([110], np.uint8)]
    yield entry("DynamicQuantizeLSTM", "", [random.reals(5, 2, inputs), *w, random.reals(1, 8 * hidden), *[NONE] * 4,
                                            *numbers], 3, constant=(1, 2, 8, 9, 10, 11), hidden_size=hidden,
                rtol=0.0, atol=0.05)


def entries():
    yield from product_entries()
    yield from ordered_entries()
    yield from state_entries()
    yield from causal_entries()
    yield from other_entries()
