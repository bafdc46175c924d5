#!/usr/bin/env python3
"""Writes truth.json and the .pt2 files beside it: steps of transformers' generation with a
DynamicCache, and the same models exported without one.

Usage: python truth/kv_cache/make_truth.py   (README.md beside it has the fields)
Needs the packages of requirements-models.txt and a C++ compiler.
"""
import json
import pathlib
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent.parent / "models"))

# (sequences, tokens of the step, tokens before it)
STEPS = ((1, 1, 64), (2, 1, 128), (2, 1, 1), (2, 8, 64), (2, 8, 0))


def gpt2():
    import transformers

    config = transformers.GPT2Config(
        n_layer=3, n_head=4, n_embd=64, vocab_size=128, n_positions=256, bos_token_id=0,
        eos_token_id=0, attn_implementation="sdpa")
    return transformers.GPT2LMHeadModel(config)


def llama(key_value_heads):
    def build():
        import transformers

        config = transformers.LlamaConfig(
            num_hidden_layers=3, hidden_size=64, num_attention_heads=4, intermediate_size=128,
            num_key_value_heads=key_value_heads, vocab_size=128, max_position_embeddings=256,
            attn_implementation="sdpa")
        return transformers.LlamaForCausalLM(config)

    return build


MODELS = {"gpt2": gpt2, "llama": llama(4), "llama_grouped": llama(2)}


def write_file(name, model):
    import torch

    import language_models
    import pt2_file

    model.set_attn_implementation("causal")  # see language_models.py
    model.config.use_cache = False
    sizes = {0: torch.export.Dim("batch", min=1, max=64), 1: torch.export.Dim("tokens", min=1, max=256)}
    program = pt2_file.export(
        language_models.Logits(model), (language_models.tokens(2, 8),), "eval", (sizes,))
    pt2_file.write(program, HERE / f"{name}.pt2", keep_weights=False)


def filled_cache(config, sequences, tokens):
    import torch
    import transformers

    cache = transformers.DynamicCache(config=config)
    heads = getattr(config, "num_key_value_heads", config.num_attention_heads)
    size = config.hidden_size // config.num_attention_heads
    for layer in range(config.num_hidden_layers if tokens else 0):
        made = [torch.empty(sequences, heads, tokens, size, device="cuda") for _ in range(2)]
        cache.update(*made, layer)
    return cache


def tensors_of(cache):
    layers = [layer for layer in cache.layers if layer.is_initialized]
    return [tensor for layer in layers for tensor in (layer.keys, layer.values)]


def record(name, model, sequences, step_tokens, tokens):
    import measure
    import torch
    from torch.distributed._tools.mem_tracker import MemTracker
    from torch.utils.flop_counter import FlopCounterMode

    ids = torch.zeros(sequences, step_tokens, dtype=torch.int64, device="cuda")

    def step(cache):
        with torch.no_grad():
            return model(ids, past_key_values=cache, use_cache=True).logits

    counter = FlopCounterMode(display=False)
    with counter:
        step(filled_cache(model.config, sequences, tokens))
    calls = measure.CallCounter()
    with calls:
        step(filled_cache(model.config, sequences, tokens))
    cache = filled_cache(model.config, sequences, tokens)
    before = sum(measure.size(x) for x in tensors_of(cache))
    tracker = MemTracker()
    tracker.track_external(model, ids, *tensors_of(cache))
    with tracker:
        step(cache)
    peak = tracker.get_tracker_snapshot("peak")[torch.device("cuda", 0)]
    attention = [call for call in calls.calls if "scaled_dot_product" in call]
    return {
        "model": name, "sequences": sequences, "step_tokens": step_tokens, "tokens": tokens,
        "cache_bytes": before, "cache_bytes_after": sum(measure.size(x) for x in tensors_of(cache)),
        "fwd_flops": counter.get_total_flops(), "attention": attention,
        "peak_bytes": next(int(n) for kind, n in peak.items() if str(kind).endswith("Total")),
    }


def main():
    import fake_cuda

    force_attention = fake_cuda.load()  # before torch
    warnings.filterwarnings("ignore")
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    import fake_models
    import zoo  # noqa: F401 - lets transformers be imported without torchvision's operators

    torch.set_num_threads(1)
    force_attention(-1)
    records = []
    for name, build in MODELS.items():
        with FakeTensorMode():
            model = build().eval()
            fake_models.Mover(None).module(model)
            for step in STEPS:
                records.append(record(name, model, *step))
                print(records[-1], flush=True)
        write_file(name, build())
    truth = {"torch": torch.__version__.split("+")[0], "device": "H200", "records": records}
    (HERE / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    main()
