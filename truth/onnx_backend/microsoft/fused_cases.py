"""Fused products, convolutions, norms and activations; embeddings; copies of operators of the default domain."""
import numpy as np
from entry import Random, entry, scalar, vector

import references


def product_entries():
    random = Random("products")
    a, b, c = random.reals(4, 3), random.reals(3, 5), random.reals(5)
    yield entry("FusedMatMul", "alpha_and_transposed", [random.reals(2, 3, 4), random.reals(2, 5, 3)], alpha=0.5,
                transA=1, transB=1)
    yield entry("FusedMatMul", "batch_transposed", [random.reals(3, 2, 4), random.reals(5, 2, 4)], transBatchA=1,
                transBatchB=1, transB=1)
    yield entry("TransposeMatMul", "", [random.reals(3, 4), random.reals(3, 5)], transA=1, alpha=2.0)
    for activation in ("Relu", "Tanh", "Sigmoid"):
        yield entry("FusedGemm", activation, [a, b, c], activation=activation)
    yield entry("FusedGemm", "all_numbers", [a.T.copy(), b.T.copy(), random.reals(4, 1)], transA=1, transB=1, alpha=0.5,
                beta=2.0, activation="LeakyRelu", activation_alpha=0.3)
    yield entry("FusedMatMulActivation", "", [a, b], activation="Relu", alpha=0.5, reference=references.matmul_relu)
    yield entry("GemmFastGelu", "", [random.reals(2, 4, 3), b, c], reference=references.gemm_fast_gelu)
    yield entry("MatMulInteger16", "", [random.integers(-3000, 3000, 4, 3, dtype=np.int16),
                                        random.integers(-3000, 3000, 3, 5, dtype=np.int16)])


def convolution_entries():
    random = Random("convolutions")
    x, w, bias = random.reals(2, 4, 6, 6), random.reals(6, 2, 3, 3), random.reals(6)
    window = dict(group=2, pads=[1, 1, 1, 1], strides=[2, 2])
    for activation, numbers in (("Relu", None), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.5]),
                                ("HardSigmoid", [0.2, 0.6]), ("Tanh", None), ("Sigmoid", None)):
        more = {"activation_params": numbers} if numbers else {}
        yield entry("FusedConv", activation, [x, w, bias], activation=activation, **more, **window)
    yield entry("FusedConv", "sum", [x, w, bias, random.reals(2, 6, 3, 3)], activation="Relu", **window)
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    yield entry("NhwcConv", "", [last, w, bias], reference=references.channels_last_convolution, **window)
    yield entry("NhwcFusedConv", "", [last, w, bias, random.reals(2, 3, 3, 6)], activation="Relu",
                reference=references.channels_last_convolution, **window)
    yield entry("NhwcMaxPool", "", [random.bytes(1, 5, 5, 3)], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    yield entry("ConvTransposeWithDynamicPads", "", [random.reals(1, 3, 4, 4), random.reals(3, 2, 3, 3),
                                                     vector(1, 0, 1, 2, dtype=np.int64), random.reals(2)],
                strides=[2, 2])


def norm_entries():
    random = Random("norms")
    x, weight, bias = random.reals(2, 3, 8), random.positive(8), random.reals(8)
    yield entry("SkipLayerNormalization", "", [x, random.reals(2, 3, 8), weight, bias, random.reals(8)],
                [True, False, False, True], epsilon=1e-5)
    yield entry("SkipLayerNormalization", "broadcast", [x, random.reals(3, 8), weight], epsilon=1e-5)
    yield entry("SkipSimplifiedLayerNormalization", "", [x, random.reals(2, 3, 8), weight, bias],
                [True, False, False, True], epsilon=1e-5)
    image, w, b = random.reals(2, 4, 4, 8), random.positive(8), random.reals(8)
    for activation in (0, 1):
        yield entry("GroupNorm", f"activation_{activation}", [image, w, b], groups=4, activation=activation,
                    reference=references.group_norm)
    yield entry("GroupNorm", "channels_first", [random.reals(2, 8, 4, 4), w, b], groups=2, activation=1,
                channels_last=0, reference=references.group_norm)
    for form, skip in (("", random.reals(2, 4, 4, 8)), ("one_skip_an_image", random.reals(2, 8))):
        yield entry("SkipGroupNorm", form, [image, w, b, skip, random.reals(8)], 2, groups=4, activation=1,
                    reference=references.group_norm)
    yield entry("GatedRMSNorm", "", [random.reals(2, 3, 16), weight, random.reals(2, 3, 16)],
                reference=references.gated_rms_norm)


def activation_entries():
    random = Random("activations")
    x, bias = random.reals(2, 3, 8, scale=2), random.reals(8)
    yield entry("BiasGelu", "", [x, bias])
    yield entry("FastGelu", "", [x, bias])
    yield entry("FastGelu", "without_bias", [x])
    yield entry("Gelu", "", [x])
    yield entry("QuickGelu", "", [x], alpha=1.5)
    yield entry("BiasSplitGelu", "", [x, bias], reference=references.bias_split_gelu)
    yield entry("BiasAdd", "", [x, bias, random.reals(2, 3, 8)], reference=references.bias_add)
    yield entry("BiasSoftmax", "", [random.reals(2, 2, 3, 4), random.reals(2, 1, 1, 4)], axis=3, is_inner_broadcast=1,
                reference=references.bias_softmax)
    yield entry("BiasSoftmax", "two_axes", [random.reals(2, 3, 4), random.reals(3, 4)], axis=1, is_inner_broadcast=0,
                reference=references.bias_softmax)
    yield entry("BiasDropout", "", [x, bias, random.reals(2, 3, 8), scalar(0.5)], [True, True],
                reference=references.bias_dropout)
    yield entry("GatedAdd", "", [x, random.reals(2, 3, 8), random.reals(2, 3, 1)], reference=references.gated_add)
    yield entry("ScaledSiLU", "", [x], alpha=0.5, reference=references.scaled_silu)


def embedding_entries():
    random = Random("embeddings")
    words, places, segments = random.reals(11, 8), random.reals(7, 8), random.reals(2, 8)
    weight, bias = random.positive(8), random.reals(8)
    ids, sentence = random.integers(0, 11, 2, 5), random.integers(0, 2, 2, 5)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    norm = dict(epsilon=1e-5)
    yield entry("EmbedLayerNormalization", "", [ids, sentence, words, places, segments, weight, bias, mask], 3, **norm)
    yield entry("EmbedLayerNormalization", "without_segments", [ids, None, words, places, None, weight, bias], 2,
                **norm)
    yield entry("EmbedLayerNormalization", "positions", [ids, sentence, words, places, segments, weight, bias, None,
                                                         random.integers(0, 7, 2, 5)], 2, **norm)
    table = lambda rows: random.bytes(rows, 8) if rows else random.bytes(8)
    scales = [scalar(0.02), scalar(0.01), scalar(0.03), scalar(0.015), scalar(0.01)]
    zeros = [scalar(z, np.uint8) for z in (128, 120, 100, 10, 127)]
    yield entry("QEmbedLayerNormalization", "", [ids, sentence, table(11), table(7), table(2), table(0), table(0), mask,
                                                 *scales, *zeros], 2, **norm)
    for form, both_ways in (("both_ways", 1), ("backwards", 0)):
        yield entry("RelativePositionBias", form, [random.reals(8, 3), scalar(12, np.int64), scalar(12, np.int64)],
                    max_distance=10, is_bidirectional=both_ways, reference=references.relative_position_bias)
    yield entry("GatedRelativePositionBias", "", [random.reals(2, 4, 6), random.reals(6), random.reals(1, 3, 4, 4),
                                                  random.reals(2, 8), random.reals(8), random.reals(1, 3, 1, 1)],
                num_heads=3, reference=references.gated_relative_position_bias)
    yield entry("TorchEmbedding", "", [words, random.integers(0, 11, 2, 3, dtype=np.int64)],
                reference=references.torch_embedding)


def copy_entries():
    random = Random("copies")
    x = random.reals(2, 3, 4)
    yield entry("Inverse", "", [random.reals(2, 3, 3) + 3 * np.eye(3, dtype=np.float32)])
    yield entry("Trilu", "", [x, scalar(1, np.int64)], upper=0)
    yield entry("GatherND", "", [x, np.array([[0, 1], [1, 2]], np.int64)])
    yield entry("Pad", "", [x, vector(0, 1, 0, 0, 0, 2, dtype=np.int64), vector(0.5)], mode="constant")
    yield entry("Range", "", [scalar(1.0), scalar(7.0), scalar(2.5)])
    yield entry("Range", "without_step", [scalar(2, np.int32), scalar(6, np.int32)])
    yield entry("Unique", "", [vector(2, 1, 1, 3, 4, 3)], 3)
    yield entry("ExpandDims", "", [x, scalar(1, np.int32)])
    yield entry("CDist", "", [random.reals(4, 3), random.reals(5, 3)], metric="euclidean")
    yield entry("CDist", "squared", [random.reals(4, 3), random.reals(5, 3)])
    yield entry("GridSample", "", [random.reals(1, 2, 4, 4), random.reals(1, 3, 3, 2, scale=0.5)], align_corners=1,
                mode="bilinear", padding_mode="zeros")
    boxes = np.array([[0.1, 0.2, 0.9, 0.8], [-0.2, 0.0, 1.0, 1.3]], np.float32)
    for mode in ("bilinear", "nearest"):
        yield entry("CropAndResize", mode, [random.reals(2, 3, 6, 5), boxes, vector(1, 0, dtype=np.int32),
                                            vector(4, 3, dtype=np.int32)], mode=mode, extrapolation_value=7.0)
    yield entry("CropAndResize", "to_one_pixel", [random.reals(2, 3, 6, 5), boxes, vector(1, 0, dtype=np.int32),
                                                  vector(1, 1, dtype=np.int32)])
    yield entry("Rfft", "", [random.reals(2, 8)], reference=references.rfft, signal_ndim=1)
    yield entry("Irfft", "", [random.reals(2, 5, 2)], reference=references.irfft, signal_ndim=1)
    pairs = [random.reals(3, 4, 2), random.reals(3, 4, 2)]
    yield entry("ComplexMul", "", pairs, reference=references.complex_product)
    yield entry("ComplexMulConj", "", pairs, reference=references.complex_product)
    yield entry("UnfoldTensor", "", [random.reals(2, 7)], reference=references.unfold, size=3, step=2)
    yield entry("IsAllFinite", "", [x, random.reals(3)], reference=references.is_all_finite)


def mixture_entries():
    experts, hidden, inner, tokens = 4, 8, 8, 6
    gated = dict(k=2, swiglu_fusion=1, activation_alpha=1.702, activation_beta=1.0, swiglu_limit=1.0)
    for form, more in (("relu", dict(k=1)), ("gelu", dict(k=2)), ("silu", dict(k=2, normalize_routing_weights=1)),
                       ("swiglu", gated)):
        random = Random(f"MoE {form}")
        wide = 2 * inner if form == "swiglu" else inner
        inputs = [random.reals(2, 3, hidden), random.reals(tokens, experts), random.reals(experts, wide, hidden),
                  random.reals(experts, wide), random.reals(experts, hidden, inner), random.reals(experts, hidden)]
        yield entry("MoE", form, inputs, activation_type=form, **more)
    random = Random("MoE")
    inputs = [random.reals(tokens, hidden), random.reals(tokens, experts), random.reals(experts, inner, hidden), None,
              random.reals(experts, hidden, inner), None, random.reals(experts, inner, hidden)]
    yield entry("MoE", "gate_apart", inputs, activation_type="silu", k=2, reference=references.gated_mixture)


def entries():
    yield from product_entries()
    yield from convolution_entries()
    yield from norm_entries()
    yield from activation_entries()
    yield from embedding_entries()
    yield from copy_entries()
    yield from mixture_entries()
