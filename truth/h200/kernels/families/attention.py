"""scaled_dot_product_attention by backend; the backend is asked for, never left to the heuristic."""
import itertools
import math

from kernels.families.common import BYTES, backward_of, operand

BACKENDS = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION",
            "cudnn": "CUDNN_ATTENTION", "math": "MATH"}
DIRECTIONS = ("forward", "backward")
# Width: heads x head size. Tokens: batch x sequence, or one sequence if that is longer.
WIDTH, TOKENS = 2048, 16384
SMALL_WIDTH, SMALL_TOKENS = 64, 32
MATH_SEQUENCES = (128, 512, 2048)  # math writes batch x heads x sequence^2 scores


def attention_point(backend, direction, dtype, causal, head_size, lengths, small):
    query_length, key_length = lengths
    width, tokens = (SMALL_WIDTH, SMALL_TOKENS) if small else (WIDTH, TOKENS)
    heads = width // head_size
    batch = max(1, tokens // max(lengths))
    parameters = {"backend": backend, "dtype": dtype, "causal": causal, "head_size": head_size,
                  "heads": heads, "batch": batch, "query_length": query_length,
                  "key_length": key_length}
    scores = batch * heads * query_length * key_length
    moved = 2 * batch * heads * head_size * (query_length + key_length) * BYTES[dtype]
    if backend == "math":
        moved += 6 * 4 * scores
    times = 2.5 if direction == "backward" else 1  # five products of the scores' size, not two
    flops = 4 * scores * head_size * times * (0.5 if causal else 1)
    return f"{backend}_{direction}", parameters, int(flops), int(moved * times)


def points(small):
    heads = (32,) if small else (32, 64, 80, 96, 128, 256)
    sequences = (16,) if small else (128, 512, 1024, 2048, 4096, 16384)
    for direction, backend, causal, head_size, length in itertools.product(
            DIRECTIONS, BACKENDS, (False, True), heads, sequences):
        if backend != "math" or small or length in MATH_SEQUENCES:
            yield attention_point(backend, direction, "bfloat16", causal, head_size, (length,) * 2,
                                  small)
    for direction, backend, length in itertools.product(DIRECTIONS, ("efficient", "math"),
                                                        sequences[:4]):
        yield attention_point(backend, direction, "float32", False, heads[-1] // 2, (length,) * 2,
                              small)
    for backend, query_length, length in itertools.product(BACKENDS, (1, 16, 77), sequences):
        if backend != "math" or length <= 4096:  # a decoding step, text conditions on an image
            yield attention_point(backend, "forward", "float16", False, heads[-1] // 2,
                                  (query_length, length), small)


TINY = [(batch, heads, head_size, lengths) for heads, head_size in ((2, 16), (4, 32), (8, 64))
        for batch, lengths in ((1, (16, 16)), (4, (64, 64)), (8, (197, 197)), (2, (10, 300)))]


def tiny_points(small):
    """Attention of a few short sequences."""
    for batch, heads, head_size, lengths in TINY[:1] if small else TINY:
        for (backend, dtype), direction in itertools.product(
                (("flash", "bfloat16"), ("cudnn", "bfloat16"), ("efficient", "float32")), DIRECTIONS):
            operation, parameters, *_ = attention_point(backend, direction, dtype, False, head_size, lengths, small)
            products = 4 * batch * heads * head_size * math.prod(lengths)
            moved = 2 * batch * heads * head_size * sum(lengths) * BYTES[dtype]
            yield operation, {**parameters, "batch": batch, "heads": heads}, products, moved


def attend(parameters, device, requires_grad):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    backend = getattr(SDPBackend, BACKENDS[parameters["backend"]])
    shape = [parameters["batch"], parameters["heads"], 0, parameters["head_size"]]
    tensors = []
    for length in (parameters["query_length"], parameters["key_length"], parameters["key_length"]):
        shape[2] = length
        tensors.append(operand(shape, parameters["dtype"], device, requires_grad))

    def call():
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(
                *tensors, is_causal=parameters["causal"])
    return call, tensors


def forward(parameters, device):
    return attend(parameters, device, False)[0]


def backward(parameters, device):
    call, tensors = attend(parameters, device, True)
    return backward_of(call(), tensors)


OPERATIONS = {f"{backend}_{direction}": forward if direction == "forward" else backward
              for backend in BACKENDS for direction in DIRECTIONS}
