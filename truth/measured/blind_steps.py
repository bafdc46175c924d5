#!/usr/bin/env python3
"""Training steps of whole models of transformers and timm that nothing here was made with, estimated before they ran.

    python truth/measured/blind_steps.py --export               # blind.zip: exported programs; PyTorch, transformers, timm, no GPU
    python3 truth/measured/blind_steps.py --estimate SYMPROF    # blind_estimates.json, before --record
    python truth/measured/blind_steps.py --record ROWS.json     # on the GPU; PyTorch, transformers, timm, no symprof
    python3 truth/measured/blind_steps.py SYMPROF [--device h100] [--check]    # the table: estimates beside blind_h200.json

The usual sizes and an usual batch, AdamW in its foreach form, fp32 and autocast to bf16. Nothing was fitted on these rows."""
import argparse
import collections
import contextlib
import json
import multiprocessing
import pathlib
import re
import statistics
import sys
import tempfile
import zipfile

from estimates import Refused, busy_us, profiled

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "h200"))
PROGRAMS, ESTIMATES = HERE / "blind.zip", HERE / "blind_estimates.json"
PEAKS = ("peak_allocated_bytes", "peak_reserved_bytes")
DTYPES = ("fp32", "autocast")

Text = collections.namedtuple("Text", "kind config batch length")
Images = collections.namedtuple("Images", "name batch size")
DECODER = {"hidden_size": 1024, "num_hidden_layers": 8, "num_attention_heads": 16, "vocab_size": 32000}
MODELS = {
    "gptj": Text("GPTJForCausalLM", {"n_embd": 1024, "n_layer": 8, "n_head": 16, "rotary_dim": 32, "vocab_size": 32000}, 6, 512),
    "gpt_neox": Text("GPTNeoXForCausalLM", {**DECODER, "intermediate_size": 4096}, 6, 512),
    "gpt_neo": Text("GPTNeoForCausalLM", {"hidden_size": 768, "num_layers": 8, "attention_types": [[["global", "local"], 4]], "num_heads": 12}, 4, 512),
    "bloom": Text("BloomForCausalLM", {"hidden_size": 1024, "n_layer": 8, "n_head": 16, "vocab_size": 50000}, 4, 512),
    "phi": Text("PhiForCausalLM", {**DECODER, "intermediate_size": 4096}, 4, 1024),
    "gemma2": Text("Gemma2ForCausalLM", {**DECODER, "num_key_value_heads": 4, "head_dim": 64, "intermediate_size": 4096}, 4, 1024),
    "qwen3": Text("Qwen3ForCausalLM", {**DECODER, "num_key_value_heads": 8, "head_dim": 64, "intermediate_size": 3072}, 4, 1024),
    "stablelm": Text("StableLmForCausalLM", {**DECODER, "num_key_value_heads": 16, "intermediate_size": 2816}, 4, 1024),
    "starcoder2": Text("Starcoder2ForCausalLM", {**DECODER, "num_key_value_heads": 2, "intermediate_size": 4096}, 4, 1024),
    "roberta": Text("RobertaForMaskedLM", {}, 16, 256),
    "electra": Text("ElectraForMaskedLM", {"embedding_size": 768, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
                                           "intermediate_size": 3072}, 16, 256),
    "albert": Text("AlbertForMaskedLM", {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}, 16, 256),
    "distilbert": Text("DistilBertForMaskedLM", {}, 16, 384),
    "deberta_v2": Text("DebertaV2ForMaskedLM", {"hidden_size": 768, "num_hidden_layers": 8, "num_attention_heads": 12, "intermediate_size": 3072,
                                                "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}, 8, 256),
    "beit": Images("beit_base_patch16_224", 32, 224),
    "mixer": Images("mixer_b16_224", 48, 224),
    "deit3": Images("deit3_small_patch16_224", 64, 224),
    "cait": Images("cait_s24_224", 16, 224),
    "xcit": Images("xcit_small_12_p16_224", 32, 224),
    "maxvit": Images("maxvit_tiny_tf_224", 16, 224),
    "mobilevit": Images("mobilevit_s", 32, 256),
    "poolformer": Images("poolformer_s24", 32, 224),
    "levit": Images("levit_256", 128, 224),
    "efficientformer": Images("efficientformer_l3", 48, 224),
    "convnextv2": Images("convnextv2_tiny", 32, 224),
    "regnety": Images("regnety_032", 48, 224),
    "resnet_d": Images("resnet101d", 24, 256),
    "nfnet": Images("nfnet_l0", 24, 224),
    "repvgg": Images("repvgg_b1", 32, 224),
    "ghostnet": Images("ghostnet_100", 96, 224),
    "dla": Images("dla60", 32, 224),
    "hrnet": Images("hrnet_w18", 24, 224),
}
NAMES = [f"{model}-{dtype}" for model in MODELS for dtype in DTYPES]


def built(model):
    """The module with its loss, and what it is given, on the CPU (or as fake tensors)."""
    import torch
    from memory.networks import Task, classification_loss, language_loss
    recipe = MODELS[model]
    if isinstance(recipe, Images):
        import timm
        network = timm.create_model(recipe.name)
        inputs = (torch.randn(recipe.batch, 3, recipe.size, recipe.size), torch.randint(0, 1000, (recipe.batch,)))
        return Task(network, classification_loss), inputs
    import transformers
    kind = getattr(transformers, recipe.kind)
    network = kind(kind.config_class(**recipe.config))
    vocabulary = network.config.vocab_size
    return Task(network, language_loss), (torch.randint(0, vocabulary, (recipe.batch, recipe.length)),)


def export_one(model):
    import torch
    from export_steps import masks_as_outside_of_an_export
    from memory.exports import archive_without_weights
    from memory.networks import leave_matrices_unfilled
    from torch._subclasses.fake_tensor import FakeTensorMode

    leave_matrices_unfilled()
    masks_as_outside_of_an_export()
    # timm reads the rates of its drop paths from a tensor, which fake ones refuse.
    with contextlib.nullcontext() if isinstance(MODELS[model], Images) else FakeTensorMode():
        task, inputs = built(model)
        program = torch.export.export(task.train(), inputs, strict=False)
    return archive_without_weights(program, model)


def export():
    from memory.jobs import define_torchvision_operators
    define_torchvision_operators()
    known = set(zipfile.ZipFile(PROGRAMS).namelist()) if PROGRAMS.exists() else set()
    for model in MODELS:
        if f"{model}.pt2" in known:
            continue
        try:
            data = export_one(model)
        except Exception as error:  # Whatever the package says of the model.
            print(f"{model}: {type(error).__name__}: {str(error).splitlines()[0]}", flush=True)
            continue
        with zipfile.ZipFile(PROGRAMS, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.writestr(zipfile.ZipInfo(f"{model}.pt2", date_time=(1980, 1, 1, 0, 0, 0)), data)
        print(f"{model}: {len(data)} bytes", flush=True)


def record_one(name, lock):
    """In a process of its own, with an empty cache. What needs no GPU is done beside others."""
    import torch
    from memory.networks import fill, leave_matrices_unfilled
    import gpu_steps

    leave_matrices_unfilled()
    model, dtype = name.split("-")
    task, inputs = built(model)
    with lock:
        try:
            fill(task.train().cuda())
            inputs = tuple(tensor.cuda() for tensor in inputs)
            optimizer = torch.optim.AdamW(task.parameters(), lr=1e-4, foreach=True)

            def step():
                with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "autocast"):
                    loss = task(*inputs)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()

            return {**gpu_steps.measured(step), "busy_us_by_operator": gpu_steps.busy_by_operator(step)}
        except RuntimeError as error:
            return {"error": str(error).splitlines()[0]}


def record_job(job):
    name, lock = job
    import torch
    row = record_one(name, lock)
    print(name, row.get("error") or f"{statistics.median(row['step_us']) / 1e3:.2f} ms", flush=True)
    return name, row, torch.cuda.get_device_name(), torch.__version__


def record(path, only):
    context = multiprocessing.get_context("spawn")
    lock, document = context.Manager().Lock(), {"rows": {}}
    with context.Pool(8, maxtasksperchild=1) as pool:
        for name, row, device, version in pool.imap_unordered(record_job, [(name, lock) for name in NAMES if re.search(only, name)]):
            document["rows"][name] = row
            pathlib.Path(path).write_text(json.dumps({**document, "device": device, "torch": version}, indent=0, sort_keys=True) + "\n")


def totals_of(symprof, path, dtype, device):
    autocast = ["--autocast", "bf16"] if dtype == "autocast" else []
    try:
        totals = profiled(symprof, path, "--optimizer", "adamw:foreach", "--device", device, "--alloc-conf", "torch:2.11", *autocast)["totals"]
    except Refused as refused:
        return {"error": str(refused).splitlines()[0]}
    return {**{key: totals[key] for key in PEAKS}, "busy_us": busy_us(totals)}


def estimates(symprof, device="h200"):
    found = {}
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(PROGRAMS) as archive:
        archive.extractall(folder)
        for model in (model for model in MODELS if f"{model}.pt2" in archive.namelist()):
            for dtype in DTYPES:
                found[f"{model}-{dtype}"] = totals_of(symprof, f"{folder}/{model}.pt2", dtype, device)
    return found


def table(title, found, measured):
    """Rows of markdown, and the errors of each figure."""
    errors = collections.defaultdict(list)
    print(f"| {title} | device busy | off | allocated | off | reserved | off |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, row in measured.items():
        if "error" in row or "error" in found.get(name, {"error": ""}):
            print(f"{name}: {row.get('error') or found.get(name, {}).get('error', 'no program')}")
            continue
        off = {key: found[name][key] / row[key] - 1 for key in ("busy_us", *PEAKS)}
        for key, error in off.items():
            errors[key].append(abs(error))
        peaks = " | ".join(f"{row[key] / 2**20:,.0f} MiB | {off[key]:+.2%}" for key in PEAKS)
        print(f"| {name} | {row['busy_us'] / 1e3:.1f} ms | {off['busy_us']:+.1%} | {peaks} |")
    for key, values in errors.items():
        near, ordered = sum(value <= 0.03 for value in values), sorted(values)
        print(f"{key}: {statistics.median(values):.2%} off in the median, {ordered[int(0.9 * len(values))]:.1%} at the 90th percentile, "
              f"{ordered[-1]:.1%} at most, {near} of {len(values)} within 3 %")
    return errors


def compare(symprof, device, check):
    measured = json.loads((HERE / f"blind_{device}.json").read_text())["rows"]
    measured = {name: measured[name] for name in NAMES if name in measured}
    if device == "h200" and not check:
        table("estimated before it ran", json.loads(ESTIMATES.read_text()), measured)
    errors = table("now", estimates(symprof, device), measured)
    return check and any(statistics.median(errors[key]) > most for key, most in BOUNDS.items())


BOUNDS = {"busy_us": 0.04, PEAKS[0]: 0.001, PEAKS[1]: 0.01}  # of the medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("symprof", nargs="?")
    parser.add_argument("--export", action="store_true")
    parser.add_argument("--estimate", metavar="SYMPROF")
    parser.add_argument("--record", metavar="ROWS")
    parser.add_argument("--only", default="", help="steps to record whose name this regular expression finds")
    parser.add_argument("--device", default="h200", choices=("h200", "h100"))
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.export:
        return export()
    if given.estimate:
        ESTIMATES.write_text(json.dumps(estimates(given.estimate), indent=0, sort_keys=True) + "\n")
        return 0
    if given.record:
        return record(given.record, given.only)
    return compare(given.symprof, given.device, given.check)


if __name__ == "__main__":
    sys.exit(main())
