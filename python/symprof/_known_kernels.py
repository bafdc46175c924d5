"""Costs of the kernels of common packages: operators of torch.library by their names, Triton kernels by "triton::" and
theirs.

A row is a rule of symprof.cost_rule, and a program's own rule overrides it. FLOPs of products are counted from the sizes;
other computation is a fixed number of FLOPs for each number of the largest tensor, an approximation as for PyTorch's own
element-wise kernels. Bytes are those of a kernel's tensors. Kernels of another package with the same name are distinguished
by their parameters.
"""
from collections.abc import Callable

from ._costs import Call, Cost, Rule, Tensor

# What an optimizer does for each number of a parameter (as profile/cost/flops/optimizer.cpp counts it), and what its states of 8
# bits take beside: a product with the block's scale and a look-up when they are read, a quotient and a search when they are written.
_TWO_STATES, _ONE_STATE, _STATE_OF_8_BITS = 15, 7, 4


def _largest(call: Call) -> int:
    return max((tensor.numel() for tensor in (*call.inputs, *call.outputs)), default=0)


def _each(flops: int) -> Rule:
    """So many FLOPs for each number of the largest tensor."""
    return lambda call: Cost(other_flops=flops * _largest(call))


def _has(call: Call, *names: str) -> bool:
    return all(name in call.arguments for name in names)


def _of_kernel(rule: Rule, *parameters: str) -> Rule:
    """For kernels that have these parameters alone."""
    return lambda call: rule(call) if _has(call, *parameters) else None


# bitsandbytes (bitsandbytes/_ops.py)


def _product_with(weight: str) -> Rule:
    """Rows of A times a weight of which the output has the rows: 2 · rows · K · N. (Columns of outliers, which
    int8_mixed_scaled_mm multiplies in 16 bits too, are as many as data decide, and not counted.)"""

    def rule(call: Call) -> Cost | None:
        rows: Tensor = call.arguments["A"]
        outputs = [*call.outputs, *(call.arguments[name] for name in ("out",) if name in call.arguments)]
        if not outputs or not rows.sizes:
            return None
        unpacked = 2 * outputs[0].sizes[-1] * rows.sizes[-1] if weight == "packed" else 0  # A product with the scale, and a look-up.
        return Cost(product_flops=2 * outputs[0].numel() * rows.sizes[-1], other_flops=unpacked)

    return rule


def _update(of_8_bits: bool) -> Rule:
    """One parameter's update; an optimizer has one state, or two."""

    def rule(call: Call) -> Cost:
        written = [call.arguments[name] for name in ("p", "state1", "state2", "absmax1", "absmax2") if name in call.arguments]
        states = sum(name in call.arguments for name in ("state1", "state2"))
        flops = (_TWO_STATES if states == 2 else _ONE_STATE) + (states * _STATE_OF_8_BITS if of_8_bits else 0)
        return Cost(other_flops=flops * int(call.arguments["p"].numel()), bytes_written=sum(tensor.bytes for tensor in written))

    return rule


_BITSANDBYTES: dict[str, Rule] = {
    "gemv_4bit": _product_with("packed"),
    "gemm_4bit": _product_with("packed"),
    "int8_linear_matmul": _product_with("B"),
    "int8_scaled_mm": _product_with("B"),
    "int8_mixed_scaled_mm": _product_with("CB"),
    "dequantize_4bit": _each(2),
    "quantize_4bit": _each(4),
    "dequantize_blockwise": _each(2),
    "quantize_blockwise": _each(4),
    "int8_vectorwise_quant": _each(3),
    "int8_vectorwise_dequant": _each(2),
    "int8_mm_dequant": _each(3),
    "int8_double_quant": _each(6),
    "optimizer_update_32bit": _update(of_8_bits=False),
    "optimizer_update_8bit_blockwise": _update(of_8_bits=True),
}


# Attention outside of PyTorch: q, k, v of (batch, length, heads, size).


def _attention(products: int) -> Rule:
    """`products` of the scores' size: 2 forward, 5 backward. A causal mask halves neither here nor in PyTorch's own counter."""

    def rule(call: Call) -> Cost | None:
        query, key = call.arguments.get("q", call.arguments.get("query")), call.arguments.get("k", call.arguments.get("key"))
        if query is None or key is None or len(query.sizes) != 4:
            return None
        batch, queries, heads, size = query.sizes
        return Cost(product_flops=products * 2 * batch * heads * queries * key.sizes[1] * size)

    return rule


_ATTENTION: dict[str, Rule] = {
    **{f"{space}::{name}": _attention(2) for space, name in (
        ("flash_attn", "_flash_attn_forward"), ("flash_attn_3", "_flash_attn_forward"), ("flash_attn_3", "fwd"),
        ("xformers_flash", "flash_fwd"), ("xformers_flash3", "flash_fwd"))},
    **{f"{space}::{name}": _attention(5) for space, name in (
        ("flash_attn", "_flash_attn_backward"), ("flash_attn_3", "_flash_attn_backward"), ("flash_attn_3", "bwd"),
        ("xformers_flash", "flash_bwd"), ("xformers_flash3", "flash_bwd"))},
}

# Element-wise kernels, norms, losses and rotations: FLOPs for each number of the largest tensor.
_ELEMENTS: dict[int, str] = {
    0: "embedding_forward_kernel",
    1: "element_mul_kernel elementwise_mul_kernel embedding_backward_kernel chunk_local_cumsum_scalar_kernel "
       "chunk_local_cumsum_vector_kernel chunk_global_cumsum_scalar_kernel chunk_global_cumsum_vector_kernel",
    2: "_swiglu_forward_kernel _swiglu_forward_kernel_tiled _geglu_tanh_forward_kernel _relu_squared_forward_kernel "
       "_swiglu_fused_gate_up_forward_kernel swiglu_fwd_kernel swish_fwd_kernel sigmoid_fwd_kernel logsigmoid_fwd_kernel _fg_kernel "
       "_exact_forward_kernel _approx_forward_kernel logsumexp_fwd_kernel",
    3: "_triton_rope _triton_qwen2vl_mrope _llama4_rope_kernel rotary_embedding_kernel _rope_embedding _rope_embedding_QK "
       "_dyt_fwd_kernel l2norm_fwd_kernel l2norm_fwd_kernel1",
    4: "_rms_norm_forward_kernel _block_rms_norm_forward_kernel _rms_layernorm_forward _gemma_rms_layernorm_forward "
       "_softmax_single_block_forward_kernel _softmax_multi_block_forward_kernel softmax_fwd_kernel _cross_entropy_forward "
       "_chunked_cross_entropy_forward _relu_squared_backward_kernel _softmax_single_block_backward_kernel "
       "_softmax_multi_block_backward_kernel softmax_bwd_kernel _cross_entropy_backward cross_entropy_bwd_kernel "
       "_kldiv_kernel_forward _kldiv_kernel_backward swish_bwd_kernel sigmoid_bwd_kernel logsigmoid_bwd_kernel _selective_log_softmax_kernel",
    5: "_fused_add_rms_norm_forward_kernel liger_cross_entropy_kernel cross_entropy_kernel cross_entropy_fwd_kernel "
       "liger_vocab_parallel_ce_forward_kernel liger_vocab_parallel_ce_backward_kernel l2norm_bwd_kernel l2norm_bwd_kernel1",
    6: "_swiglu_backward_kernel _swiglu_backward_kernel_tiled _swiglu_fused_gate_up_backward_kernel _geglu_tanh_backward_kernel "
       "swiglu_fwdbwd_kernel _DWf_DW_dfg_kernel _exact_backward_kernel _approx_backward_kernel _dyt_bwd_kernel",
    8: "_layer_norm_forward_kernel layernorm_forward layer_norm_fwd_kernel layer_norm_gated_fwd_kernel layer_norm_gated_fwd_kernel1 "
       "_group_norm_forward_kernel _rms_norm_backward_kernel _block_rms_norm_backward_kernel _rms_layernorm_backward _jsd_kernel "
       "_tv_distance_kernel _grpo_loss_fwd_kernel kl_div_kernel",
    9: "_fused_add_rms_norm_backward_kernel _grpo_loss_bwd_kernel",
    14: "_layer_norm_backward_kernel layernorm_backward layer_norm_bwd_kernel layer_norm_gated_bwd_kernel layer_norm_gated_bwd_kernel1 "
        "_group_norm_backward_kernel",
}


# Linear attention in chunks (flash-linear-attention, fla/ops): a token of a head meets its chunk of BT tokens, and states of K · V.


def _tokens(call: Call) -> int | None:
    """Tokens of all sequences times heads: rows of V numbers, or of K without a V."""
    heads = call.arguments.get("HV", call.arguments.get("H"))
    for name, size in (("v", "V"), ("u", "V"), ("do", "V"), ("k", "K"), ("q", "K")):
        if _has(call, name, size):
            tensor: Tensor = call.arguments[name]
            of_keys = call.arguments.get("H", heads) if size == "K" else heads
            return tensor.numel() // (of_keys * call.arguments[size]) * heads if of_keys else None
    return None


def _chunks(states: int = 0, keys: int = 0, values: int = 0, within: float = 0) -> Rule:
    """For each token: so many products with a state [K, V], of keys and of values with the chunk's [BT], and of [BT] with [BT]."""

    def rule(call: Call) -> Cost | None:
        tokens = _tokens(call)
        size, value_size, chunk = (call.arguments.get(name, 0) for name in ("K", "V", "BT"))
        lacks = (states or keys) and not size or (states or values) and not value_size or (keys or values or within) and not chunk
        if tokens is None or lacks:
            return None
        each = states * size * value_size + keys * chunk * size + values * chunk * value_size + within * chunk * chunk
        return Cost(product_flops=int(2 * tokens * each))

    return rule


def _keys_and_values(call: Call) -> Cost | None:
    """chunk_bwd_kernel_dqkwg (fla/ops/common/chunk_o.py): of the delta rule it has `dw`, a product with a state more."""
    return _chunks(states=3 if _has(call, "dw") else 2, keys=2, values=1)(call)


def _representation(call: Call) -> Cost | None:
    """prepare_wy_repr_bwd_kernel (fla/ops/delta_rule/wy_fast.py, fla/ops/gated_delta_rule/wy_fast.py)."""
    return _chunks(keys=5 if _has(call, "g") else 4, values=2, within=2)(call)


def _inverse(call: Call) -> Cost | None:
    """A triangle of BT · BT numbers is solved, for each token a row: BT² / 2 (fla/ops/utils/solve_tril.py)."""
    triangle = call.arguments.get("A")
    return Cost(product_flops=triangle.numel() * triangle.sizes[-1] // 2) if isinstance(triangle, Tensor) else None


def _within_blocks(call: Call) -> Cost | None:
    """chunk_gla_fwd_A_kernel_intra_sub_intra: a token attends to those of its block of BC tokens, key by key
    (fla/ops/gla/chunk.py)."""
    tokens = _tokens(call)
    if tokens is None or not _has(call, "K", "BC"):
        return None
    return Cost(other_flops=2 * tokens * call.arguments["BC"] * call.arguments["K"])


def _states_one_by_one(products: int) -> Callable[[Call], Cost | None]:
    """Recurrent kernels: each token updates a state and reads it."""

    def rule(call: Call) -> Cost | None:
        tokens = _tokens(call)
        if tokens is None or not _has(call, "K", "V"):
            return None
        return Cost(other_flops=2 * products * tokens * call.arguments["K"] * call.arguments["V"])

    return rule


_LINEAR_ATTENTION: dict[str, Rule] = {
    "chunk_fwd_kernel_h": _chunks(states=1),
    "chunk_bwd_kernel_dh": _chunks(states=1),
    "chunk_fwd_kernel_o": _chunks(states=1, keys=1, values=1),
    "chunk_bwd_kernel_dqkwg": _keys_and_values,
    "chunk_bwd_kernel_dv": _chunks(states=1, keys=1, values=1),
    "chunk_bwd_kernel_dv_local": _chunks(keys=1, values=1),
    "chunk_gated_delta_rule_fwd_kernel_h_blockdim64": _chunks(states=2),
    "chunk_gated_delta_rule_bwd_kernel_dhu_blockdim64": _chunks(states=3),
    "chunk_scaled_dot_kkt_fwd_kernel": _chunks(keys=1),
    "recompute_w_u_fwd_kernel": _chunks(keys=1, values=1),
    "prepare_wy_repr_bwd_kernel": _representation,
    "solve_tril_16x16_kernel": _inverse,
    "merge_16x16_to_32x32_inverse_kernel": _inverse,
    "merge_16x16_to_64x64_inverse_kernel": _inverse,
    "chunk_gla_fwd_A_kernel_intra_sub_inter": _chunks(keys=1),
    "chunk_gla_fwd_A_kernel_intra_sub_intra": _within_blocks,
    "chunk_gla_fwd_kernel_o": _chunks(states=1, values=1),
    "chunk_gla_bwd_kernel_intra": _chunks(keys=2),
    "chunk_gla_bwd_kernel_dA": _chunks(values=1),
    "chunk_gla_bwd_kernel_dv": _chunks(states=1, values=1),
    "chunk_gla_bwd_kernel_inter": _chunks(states=2),
    "fused_recurrent_fwd_kernel": _states_one_by_one(2),
    "fused_recurrent_bwd_kernel": _states_one_by_one(5),
}


# Losses that multiply by the classifier without its logits (cut_cross_entropy): E [tokens, D], C [classes, D].


def _classifier(products: int) -> Rule:
    def rule(call: Call) -> Cost | None:
        hidden, classes = call.arguments.get("E"), call.arguments.get("C")
        if hidden is None or classes is None:
            return None
        logits = hidden.sizes[0] * classes.sizes[0]
        return Cost(product_flops=products * 2 * logits * hidden.sizes[1], other_flops=5 * logits)

    return rule


_CLASSIFIERS: dict[str, Rule] = {
    "_cce_lse_forward_kernel": _classifier(1),
    "_cce_backward_kernel": _classifier(3),
    "_indexed_neg_dot_forward_kernel": _of_kernel(_each(2), "E", "C"),
}

RULES: dict[str, Rule] = {
    **{f"bitsandbytes::{name}": rule for name, rule in _BITSANDBYTES.items()},
    **_ATTENTION,
    **{f"triton::{name}": _each(flops) for flops, names in _ELEMENTS.items() for name in names.split()},
    **{f"triton::{name}": rule for name, rule in {**_LINEAR_ATTENTION, **_CLASSIFIERS}.items()},
}
