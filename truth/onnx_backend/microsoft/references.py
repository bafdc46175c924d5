"""What operators without a kernel in onnxruntime's CPU provider give: formulas in numpy, written after
onnxruntime's docs/ContribOperators.md. Each takes a case's entry and gives the outputs that its node names."""
import math

import ml_dtypes
import numpy as np
from onnx.reference.ops.op_conv import Conv

erf = np.vectorize(math.erf, otypes=[np.float64])


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def gelu(x):
    return (0.5 * x * (1 + erf(x / math.sqrt(2)))).astype(x.dtype)


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def heads_of(x, heads):
    batch, steps, hidden = x.shape
    return x.reshape(batch, steps, heads, hidden // heads).transpose(0, 2, 1, 3)


def merged(x):
    batch, heads, steps, size = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, steps, heads * size)


def attend(q, k, v, added=0.0):
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat(groups, 1), v.repeat(groups, 1)
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]) + added) @ v


def attention_without_bias(entry):
    heads = entry.attributes["num_heads"]
    parts = np.split(entry.inputs[0] @ entry.inputs[1], 3, -1)
    return [merged(attend(*(heads_of(part, heads) for part in parts)))]


def packed_keys(entry):
    query, keys = entry.inputs
    heads = entry.attributes["num_heads"]
    k, v = (keys[:, :, :, i].transpose(0, 2, 1, 3) for i in (0, 1))
    return [merged(attend(heads_of(query, heads), k, v))]


def packed_all(entry):
    q, k, v = (entry.inputs[0][:, :, :, i].transpose(0, 2, 1, 3) for i in range(3))
    return [merged(attend(q, k, v))]


def growing_cache(entry):
    heads = entry.attributes["num_heads"]
    q, k, v = (heads_of(x, heads) for x in entry.inputs[:3])
    keys, values = np.concatenate([entry.inputs[5], k], 2), np.concatenate([entry.inputs[6], v], 2)
    return [merged(attend(q, keys, values)), keys, values]


def shared_cache(entry):
    """The step is written behind what is filled of the buffers, which are as long afterwards."""
    heads, length = entry.attributes["num_heads"], int(entry.inputs[7][0])
    q, k, v = (heads_of(x, heads) for x in entry.inputs[:3])
    keys, values = entry.inputs[5].copy(), entry.inputs[6].copy()
    keys[:, :, length : length + 1], values[:, :, length : length + 1] = k, v
    seen = slice(0, length + 1)
    return [merged(attend(q, keys[:, :, seen], values[:, :, seen])), keys, values]


def rotated(x, cosine, sine):
    first, second = np.split(x, 2, -1)
    return np.concatenate([first * cosine - second * sine, first * sine + second * cosine], -1)


def grouped_with_norms(entry):
    """A prompt: each head of queries and keys is normalized, then rotated."""
    query, key, value, *_ = entry.inputs
    cosine, sine = (entry.inputs[i][: query.shape[1]] for i in (7, 8))
    q = heads_of(query, entry.attributes["num_heads"])
    k, v = (heads_of(x, entry.attributes["kv_num_heads"]) for x in (key, value))
    norm = lambda x, weight: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight
    q = rotated(norm(q, entry.inputs[14]), cosine, sine)
    k = rotated(norm(k, entry.inputs[15]), cosine, sine)
    hidden = np.where(np.tril(np.ones((q.shape[2], q.shape[2]))) > 0, 0, -np.inf)
    return [merged(attend(q, k, v, hidden)).astype(np.float32), k, v]


def gemma_rotary(entry):
    angles, q, q_rotated, k, k_rotated = entry.inputs
    sine, cosine = np.sin(angles)[:, None], np.cos(angles)[:, None]
    return [q * cosine + q_rotated * sine, k * cosine + k_rotated * sine]


def each_sequence(q, k, v, ends, heads, added):
    results = []
    for b, (begin, end) in enumerate(zip(ends, ends[1:])):
        parts = [heads_of(x[None, begin:end], heads) for x in (q, k, v)]
        length = end - begin
        own = 0.0 if added is None else added[b % len(added), :, :length, :length]
        results.append(merged(attend(*parts, own))[0])
    return [np.concatenate(results)]


def packed_attention(entry):
    tokens, weights, bias, _, ends, *added = entry.inputs
    q, k, v = np.split(tokens @ weights + bias, 3, -1)
    return each_sequence(q, k, v, ends, entry.attributes["num_heads"], added[0] if added else None)


def packed_multi_head(entry):
    q, k, v, bias, _, ends = entry.inputs
    parts = [x + own for x, own in zip((q, k, v), np.split(bias, 3))]
    return each_sequence(*parts, ends, entry.attributes["num_heads"], None)


def remove_padding(entry):
    x, lengths = entry.inputs
    places = np.arange(x.shape[0] * x.shape[1]).reshape(x.shape[:2])
    shown = np.arange(x.shape[1]) < lengths[:, None]
    order = np.concatenate([places[shown], places[~shown]]).reshape(x.shape[:2])
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return [x[shown], order.astype(np.int32), ends.astype(np.int32), np.array([lengths.max()], np.int32)]


def restore_padding(entry):
    tokens, offsets = entry.inputs
    y = np.zeros((offsets.size, tokens.shape[1]), tokens.dtype)
    y[offsets.flatten()[: len(tokens)]] = tokens
    return [y.reshape(*offsets.shape, -1)]


def matmul_relu(entry):
    a, b = entry.inputs
    return [np.maximum(entry.attributes["alpha"] * (a @ b), 0)]


def gemm_fast_gelu(entry):
    x = entry.inputs[0] @ entry.inputs[1] + entry.inputs[2]
    return [(0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))).astype(np.float32)]


def channels_last_convolution(entry):
    x, weight, bias, *z = entry.inputs
    attributes = {key: value for key, value in entry.attributes.items() if key != "activation"}
    y = Conv.eval(x.transpose(0, 3, 1, 2), weight, bias, **attributes)
    y = y.transpose(0, 2, 3, 1) + (z[0] if z else 0)
    return [np.maximum(y, 0) if entry.attributes.get("activation") == "Relu" else y]


def group_norm(entry):
    x, weight, bias, *more = entry.inputs
    if more:
        skip = more[0] if more[0].ndim == 4 else more[0][:, None, None]
        x = x + skip + more[1]
    last = entry.attributes.get("channels_last", 1)
    first = x.transpose(0, 3, 1, 2) if last else x
    groups = first.reshape(first.shape[0], entry.attributes["groups"], -1)
    mean, deviation = groups.mean(-1, keepdims=True), np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
    y = ((groups - mean) / deviation).reshape(first.shape) * weight[:, None, None] + bias[:, None, None]
    y = silu(y) if entry.attributes["activation"] else y
    return [y.transpose(0, 2, 3, 1) if last else y, x][: len(entry.outputs)]


def gated_rms_norm(entry):
    x, scale, gate = entry.inputs
    rows = x.reshape(-1, len(scale))
    normal = rows / np.sqrt((rows * rows).mean(-1, keepdims=True) + 1e-5) * scale
    return [normal.reshape(x.shape) * silu(gate)]


def bias_split_gelu(entry):
    left, right = np.split(entry.inputs[0] + entry.inputs[1], 2, -1)
    return [left * gelu(right)]


def bias_add(entry):
    return [sum(entry.inputs)]


def bias_softmax(entry):
    x = entry.inputs[0] + entry.inputs[1]
    return [softmax(x.reshape(*x.shape[: entry.attributes["axis"]], -1)).reshape(x.shape)]


def bias_dropout(entry):
    """In inference."""
    x, bias, residual, _ = entry.inputs
    return [x + bias + residual, np.ones(x.shape, np.bool_)]


def gated_add(entry):
    x, y, gate = entry.inputs
    return [x + y * gate]


def scaled_silu(entry):
    return [silu(entry.attributes["alpha"] * entry.inputs[0])]


def bucket(distance, buckets, longest, both_ways):
    """transformers, T5Attention._relative_position_bucket, of one distance key - query."""
    result = 0
    if both_ways:
        buckets //= 2
        result, distance = (buckets if distance > 0 else 0), abs(distance)
    else:
        distance = -min(distance, 0)
    exact = buckets // 2
    if distance < exact:
        return result + distance
    wide = exact + int(math.log(distance / exact) / math.log(longest / exact) * (buckets - exact))
    return result + min(wide, buckets - 1)


def relative_position_bias(entry):
    table, queries, keys = entry.inputs
    numbers = entry.attributes["max_distance"], entry.attributes["is_bidirectional"]
    rows = [[table[bucket(k - q, len(table), *numbers)] for k in range(int(keys))] for q in range(int(queries))]
    return [np.array(rows).transpose(2, 0, 1)[None]]


def gated_relative_position_bias(entry):
    query, query_bias, position, weight, bias, eco = entry.inputs
    q = heads_of(query + query_bias, entry.attributes["num_heads"])
    sums = (q @ weight + bias).reshape(*q.shape[:3], 2, -1).sum(-1)
    update, reset = np.split(sigmoid(sums), 2, -1)
    return [(update * (reset * eco - 1.0) + 2.0) * position]


def torch_embedding(entry):
    return [entry.inputs[0][entry.inputs[1]]]


def rfft(entry):
    y = np.fft.rfft(entry.inputs[0])
    return [np.stack([y.real, y.imag], -1).astype(np.float32)]


def irfft(entry):
    x = entry.inputs[0]
    return [np.fft.irfft(x[..., 0] + 1j * x[..., 1]).astype(np.float32)]


def complex_product(entry):
    a, b = (x[..., 0] + 1j * x[..., 1] for x in entry.inputs)
    y = a * (b.conj() if entry.op == "ComplexMulConj" else b)
    return [np.stack([y.real, y.imag], -1)]


def unfold(entry):
    size, step = entry.attributes["size"], entry.attributes["step"]
    return [np.lib.stride_tricks.sliding_window_view(entry.inputs[0], size, -1)[..., ::step, :].copy()]


def is_all_finite(entry):
    return [np.array(all(np.isfinite(x).all() for x in entry.inputs))]


def integer_product(entry):
    a, a_zero, b, b_zero = (x.astype(np.int32) for x in entry.inputs)
    return [(a - a_zero) * (b - b_zero)]


def gated_mixture(entry):
    """Each token is the sum of its experts' (silu(first) x third) x second, weighed by the router's softmax."""
    tokens, logits, first, _, second, _, third = entry.inputs
    results = np.zeros_like(tokens)
    for token, weights, result in zip(tokens, softmax(logits), results):
        for expert in np.argsort(-weights)[: entry.attributes["k"]]:
            hidden = silu(first[expert] @ token) * (third[expert] @ token)
            result += weights[expert] * (second[expert] @ hidden)
    return [results]


def of_four_bits(packed, scales, size):
    """(number - 8) x scale of [rows, blocks, block / 2] bytes, low bits first: [rows, size]."""
    numbers = np.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:2], -1).astype(np.float32) - 8
    return (numbers * scales[..., None]).reshape(packed.shape[0], -1)[:, :size]


def normalized(entry):
    x, skip, weight = entry.inputs[:3]
    total = x if skip is None else x + skip
    if weight is None:
        return total, total
    return total / np.sqrt((total**2).mean(-1, keepdims=True) + 1e-5) * weight, total


def of_packed(entry, x, first):
    weight, scales = entry.inputs[first:first + 2]
    bias = entry.inputs[first + 2] if first + 2 < len(entry.inputs) else None
    y = x @ of_four_bits(weight, scales, x.shape[-1]).T
    return y if bias is None else y + bias


def gated_products(entry):
    x, total = normalized(entry)
    return [silu(of_packed(entry, x, 3)) * of_packed(entry, x, 6), total][:len(entry.outputs)]


def three_products(entry):
    x, _ = normalized(entry)
    return [of_packed(entry, x, first) for first in (3, 6, 9)]


def matmul_float8(entry):
    x, weight, scales = entry.inputs
    spread = scales.repeat(entry.attributes["block_size"], 1)
    return [(x.astype(np.float32) @ (weight.astype(np.float32) * spread).T).astype(x.dtype)]


def matmul_float4(entry):
    x, packed, scales, scale = entry.inputs
    halves = np.array([0, 1, 2, 3, 4, 6, 8, 12], np.float32) / 2
    numbers = np.stack([packed & 15, packed >> 4], -1).reshape(packed.shape[0], -1)
    values = np.where(numbers & 8, -1, 1) * halves[numbers & 7]
    float8 = scales.view(ml_dtypes.float8_e4m3fn).astype(np.float32) * scale
    return [(x.astype(np.float32) @ (values * float8.repeat(16, 1)).T).astype(x.dtype)]


def gemm_float8(entry):
    a, b, c = entry.inputs[:3]
    return [np.maximum(entry.attributes["alpha"] * (a @ b.T) + entry.attributes["beta"] * c, 0)]


def to_int8(x, scale):
    return np.clip(np.rint(x / scale), -128, 127).astype(np.int8)


def ordered(entry):
    """The int8 operators with an order: numbers by rows, whatever the order."""
    x, scale, *rest = entry.inputs
    if entry.op == "QuantizeWithOrder":
        return [to_int8(x, scale)]
    real = x.astype(np.float32) * scale
    if entry.op == "DequantizeWithOrder":
        return [real]
    if entry.op == "QOrderedGelu":
        return [to_int8(gelu(real), rest[0])]
    if entry.op == "QOrderedLayerNormalization":
        weight, bias, scale_y = rest
        centered = real - real.mean(-1, keepdims=True)
        return [to_int8(centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5) * weight + bias, scale_y)]
    b, scale_b, scale_y, bias, *added = rest
    b = b.astype(np.float32)
    y = real @ (b * scale_b) + bias
    return [to_int8(y + added[0] * added[1] if added else y, scale_y)]


def gated_delta(q, k, v, state, decay, beta):
    """Operands [batch, steps, heads, …]; the state [batch, heads, keys, values]."""
    outputs, states = [], []
    for t in range(q.shape[1]):
        state = state * np.exp(decay[:, t])[..., None, None]
        value = (v[:, t] - np.einsum("bhk,bhkv->bhv", k[:, t], state)) * beta[:, t][..., None]
        state = state + np.einsum("bhk,bhv->bhkv", k[:, t], value)
        states.append(state)
        outputs.append(np.einsum("bhk,bhkv->bhv", q[:, t] * q.shape[-1] ** -0.5, state))
    return np.stack(outputs, 1), states


def in_window(states, window):
    return np.stack([states[i] if i >= 0 else np.zeros_like(states[0])
                     for i in range(len(states) - window, len(states))])


def linear_attention(entry):
    q, k, v, state, decay, beta = entry.inputs
    heads = entry.attributes["q_num_heads"]
    q, k, v = (x.reshape(*x.shape[:2], heads, -1) for x in (q, k, v))
    y, states = gated_delta(q, k, v, state[-1], decay, beta)
    return [y.reshape(*y.shape[:2], -1), in_window(states, entry.attributes["state_window"])]


def causal_rows(x, weight, bias, past):
    """[batch, channels, steps]: the result, and the state after each step."""
    taps, steps = weight.shape[-1], x.shape[-1]
    row = np.concatenate([past, x], -1)
    y = sum(weight[:, 0, j, None] * row[..., j:j + steps] for j in range(taps))
    return y + bias[:, None], [row[..., t + 1:t + taps] for t in range(steps)]


def causal_convolution(entry):
    """With a window of states: without one, onnxruntime's CPU provider has a kernel."""
    x, weight, bias, past = entry.inputs
    window = entry.attributes["state_window"]
    y, states = causal_rows(x, weight, bias, past[-1])
    return [silu(y), in_window(states, window)]


def bit_mask_dropout(entry):
    """In inference nothing is dropped, and every bit of an element is set."""
    x, *rest = entry.inputs
    total = x + rest[0] + rest[1] if entry.op == "BitmaskBiasDropout" else x
    bits = np.zeros(-(-x.size // 32) * 32, np.uint64)
    bits[:x.size] = 1
    words = (bits.reshape(-1, 32) << np.arange(32, dtype=np.uint64)).sum(-1)
    return [total, words.astype(np.uint32)]
