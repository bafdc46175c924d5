"""Attention, rotary embedding and what belongs to caches and packed sequences."""
import numpy as np
from entry import Random, entry, scalar, vector

import references

HEADS, SIZE, HIDDEN = 2, 8, 16


def self_attention(random, batch, steps, wide=HIDDEN):
    return [random.reals(batch, steps, HIDDEN), random.reals(HIDDEN, 2 * HIDDEN + wide, scale=0.3),
            random.reals(2 * HIDDEN + wide)]


def attention_entries():
    def one(form, make, outputs=1, reference=None, **attributes):
        random = Random(f"Attention_{form}")
        return entry("Attention", form, make(random), outputs, num_heads=HEADS, reference=reference, **attributes)

    lengths = vector(3, 5, dtype=np.int32)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    square = np.tril(np.ones((5, 5), np.int32))[None].repeat(2, 0)
    past = lambda random, length: random.reals(2, 2, HEADS, length, SIZE)
    basic = lambda r: self_attention(r, 2, 5)
    yield one("plain", basic)
    yield one("no_bias", lambda r: basic(r)[:2], reference=references.attention_without_bias)
    yield one("causal", basic, unidirectional=1)
    yield one("scaled", basic, scale=0.25)
    yield one("lengths", lambda r: [*basic(r), lengths])
    yield one("ends_and_starts", lambda r: [*basic(r), vector(5, 4, 1, 0, dtype=np.int32)])
    yield one("mask", lambda r: [*basic(r), mask])
    yield one("mask_filter", lambda r: [*basic(r), mask], mask_filter_value=-3.0)
    yield one("mask_of_each_query", lambda r: [*basic(r), square])
    yield one("mask_and_causal", lambda r: [*basic(r), mask], unidirectional=1)
    yield one("dummy_mask", lambda r: [*basic(r), np.ones((2, 1), np.int32)])
    yield one("added", lambda r: [*basic(r), None, None, r.reals(2, HEADS, 5, 5)])
    yield one("values_of_another_size", lambda r: self_attention(r, 2, 5, wide=24), qkv_hidden_sizes=[16, 16, 24])
    yield one("past", lambda r: [*self_attention(r, 2, 3), None, past(r, 4)], outputs=2)
    yield one("past_causal", lambda r: [*self_attention(r, 2, 3), None, past(r, 4)], outputs=2, unidirectional=1)
    yield one("past_one_step", lambda r: [*self_attention(r, 2, 1), np.ones((2, 5), np.int32), past(r, 4)],
              outputs=2, unidirectional=1)
    yield one("present_without_past", basic, outputs=2)


def multi_head_entries():
    def one(form, make, outputs=1, constant=(), op="MultiHeadAttention", reference=None, **attributes):
        random = Random(f"{op}_{form}")
        return entry(op, form, make(random), outputs, constant, reference, num_heads=HEADS, **attributes)

    three = lambda r, queries=4, keys=4: [r.reals(2, steps, HIDDEN) for steps in (queries, keys, keys)]
    bias = lambda r: r.reals(3 * HIDDEN)
    cache = lambda r, length: r.reals(2, HEADS, length, SIZE)
    mask = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]], np.int32)
    yield one("plain", three)
    yield one("bias", lambda r: [*three(r), bias(r)])
    yield one("cross", lambda r: three(r, 4, 6))
    yield one("mask", lambda r: [*three(r, 4, 6), bias(r), mask])
    yield one("lengths", lambda r: [*three(r, 4, 6), None, vector(3, 6, dtype=np.int32)])
    yield one("added", lambda r: [*three(r, 4, 6), None, None, r.reals(1, HEADS, 4, 6)])
    yield one("added_to_all_heads", lambda r: [*three(r, 4, 6), None, None, r.reals(2, 1, 4, 6)])
    yield one("causal", three, unidirectional=1)
    yield one("scores", lambda r: three(r, 4, 6), outputs=[True, False, False, True])
    yield one("past", lambda r: [*three(r, 3, 3), bias(r), None, None, cache(r, 4), cache(r, 4)], outputs=3)
    yield one("past_causal", lambda r: [*three(r, 3, 3), None, None, None, cache(r, 4), cache(r, 4)], outputs=3,
              unidirectional=1)
    yield one("keys_of_a_cache", lambda r: [r.reals(2, 3, HIDDEN), cache(r, 5), cache(r, 5)])
    yield one("packed_keys", lambda r: [r.reals(2, 4, HIDDEN), r.reals(2, 5, HEADS, 2, SIZE)],
              reference=references.packed_keys)
    yield one("packed", lambda r: [r.reals(2, 4, HEADS, 3, SIZE)], reference=references.packed_all)
    step = lambda r: [r.reals(2, 1, HIDDEN), r.reals(2, 1, HIDDEN), r.reals(2, 1, HIDDEN)]
    decoder = "DecoderMaskedMultiHeadAttention"
    yield one("growing", lambda r: [*step(r), None, None, cache(r, 4), cache(r, 4)], outputs=3, op=decoder,
              reference=references.growing_cache)
    # Positions behind the step are zero: onnxruntime leaves what is there only when it writes in place.
    yield one("shared", lambda r: [*step(r), None, None, filled(cache(r, 6), 3), filled(cache(r, 6), 3),
                                   vector(3, dtype=np.int32)],
              outputs=3, op=decoder, past_present_share_buffer=1, reference=references.shared_cache)
    yield one("cross", lambda r: [r.reals(2, 1, HIDDEN), cache(r, 5), cache(r, 5)], op=decoder)


def filled(cache, length):
    cache[:, :, length:] = 0
    return cache


def grouped_entries():
    def one(form, batch, steps, past, lengths, outputs=3, longest=None, total=None, packed=False, rotary=False,
            added=None, extra=None, q_heads=4, kv_heads=2, size=16, reference=None, **attributes):
        random = Random(f"GroupQueryAttention_{form}")
        total = total or max(lengths)
        if packed:
            tensors = [random.reals(batch, steps, (q_heads + 2 * kv_heads) * size), None, None]
        else:
            tensors = [random.reals(batch, steps, q_heads * size), random.reals(batch, steps, kv_heads * size),
                       random.reals(batch, steps, kv_heads * size)]
        caches = [None, None]
        if past is not None:
            caches = [random.reals(batch, kv_heads, past, size) for _ in range(2)]
            for b in range(batch):
                for cache in caches:
                    cache[b, :, max(lengths[b] - steps, 0):] = 0
        sequence = [np.array(lengths, np.int32) - 1, scalar(total, np.int32)]
        inputs = [*tensors, *caches, *sequence]
        if rotary:
            angles = random.reals(32, size // 2)
            inputs += [np.cos(angles), np.sin(angles)]
            attributes["do_rotary"] = 1
        for place, array in (extra or (lambda _: {}))(random).items():
            inputs += [None] * (place + 1 - len(inputs))
            inputs[place] = array
        return entry("GroupQueryAttention", form, inputs, outputs, reference=reference, num_heads=q_heads,
                     kv_num_heads=kv_heads, **attributes)

    yield one("prompt", 2, 5, None, [5, 5])
    yield one("prompt_packed", 2, 5, None, [5, 5], packed=True)
    yield one("prompt_rotary", 2, 5, None, [5, 5], rotary=True)
    yield one("prompt_rotary_interleaved", 2, 5, None, [5, 5], rotary=True, rotary_interleaved=1)
    yield one("prompt_empty_past", 1, 5, 0, [5])
    yield one("prompt_window", 1, 6, None, [6], local_window_size=3)
    yield one("prompt_scaled", 1, 4, None, [4], scale=0.5)
    yield one("prompt_softcap", 1, 4, None, [4], softcap=2.0)
    yield one("prompt_smooth_softmax", 1, 4, None, [4], smooth_softmax=1)
    yield one("prompt_sink", 1, 4, None, [4], extra=lambda r: {11: r.reals(4)})
    yield one("prompt_added", 2, 4, None, [4, 4], extra=lambda r: {10: r.reals(2, 4, 4, 4)})
    yield one("prompt_in_a_long_cache", 2, 3, 8, [3, 3])
    yield one("step", 2, 1, 4, [5, 5])
    yield one("step_packed_rotary", 2, 1, 4, [5, 5], packed=True, rotary=True)
    yield one("step_of_unequal_lengths", 2, 1, 4, [3, 5], rotary=True)
    yield one("step_in_a_long_cache", 2, 1, 9, [5, 5])
    yield one("step_window", 1, 1, 6, [7], local_window_size=3)
    yield one("steps_after_past", 1, 3, 4, [7], rotary=True)
    yield one("norms_of_heads", 2, 3, None, [3, 3], rotary=True,
              extra=lambda r: {14: r.positive(16), 15: r.positive(16)}, reference=references.grouped_with_norms)


def rotary_entries():
    def one(form, inputs, op="RotaryEmbedding", **more):
        return entry(op, form, inputs, **more)

    random = Random("RotaryEmbedding")
    caches = lambda width: [np.cos(random.reals(16, width)), np.sin(random.reals(16, width))]
    positions = random.integers(0, 16, 2, 5, dtype=np.int64)
    yield one("split", [random.reals(2, 3, 5, 8), positions, *caches(4)])
    yield one("merged", [random.reals(2, 5, 24), positions, *caches(4)])
    yield one("from_a_first_position", [random.reals(2, 5, 24), vector(3, dtype=np.int64), *caches(4)])
    yield one("interleaved", [random.reals(2, 5, 24), positions, *caches(4)], interleaved=1)
    yield one("a_part", [random.reals(2, 3, 5, 12), positions, *caches(4)], num_heads=3, rotary_embedding_dim=8)
    four = [random.reals(2, 3, 5, 8) for _ in range(4)]
    yield one("", [random.reals(2, 5, 8), *four], op="GemmaRotaryEmbedding", outputs=2,
              reference=references.gemma_rotary)


def packed_entries():
    random = Random("Packed")
    lengths, longest = [2, 4, 3], 4
    places = np.arange(12).reshape(3, 4)
    tokens = np.concatenate([places[b, :n] for b, n in enumerate(lengths)])
    padding = np.concatenate([places[b, n:] for b, n in enumerate(lengths)])
    offsets = np.concatenate([tokens, padding]).reshape(3, 4).astype(np.int32)
    ends = np.cumsum([0, *lengths]).astype(np.int32)
    count = sum(lengths)
    projection = [random.reals(count, HIDDEN), random.reals(HIDDEN, 3 * HIDDEN, scale=0.3), random.reals(3 * HIDDEN)]
    yield entry("PackedAttention", "", [*projection, offsets, ends], reference=references.packed_attention,
                num_heads=HEADS)
    added = random.reals(1, HEADS, longest, longest)
    yield entry("PackedAttention", "added", [*projection, offsets, ends, added],
                reference=references.packed_attention, num_heads=HEADS)
    three = [random.reals(count, HIDDEN) for _ in range(3)]
    yield entry("PackedMultiHeadAttention", "", [*three, random.reals(3 * HIDDEN), offsets, ends],
                reference=references.packed_multi_head, num_heads=HEADS)
    x = random.reals(3, longest, 5)
    yield entry("RemovePadding", "", [x, np.array(lengths, np.int32)], 4, reference=references.remove_padding)
    yield entry("RestorePadding", "", [random.reals(count, 5), offsets], reference=references.restore_padding)


def entries():
    yield from attention_entries()
    yield from multi_head_entries()
    yield from grouped_entries()
    yield from rotary_entries()
    yield from packed_entries()
