#!/usr/bin/env python3
"""Writes recipes.json, and <model>.pt2 beside it: the updates of training recipes, call by call.

Usage: python truth/recipes/make_recipes.py   (truth/README.md has the fields)
Needs the packages of requirements-models.txt, lion-pytorch, and a C++ compiler.
"""
import dataclasses
import json
import pathlib
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]


def nbytes(tensors):
    storages = {t.untyped_storage()._cdata: t.untyped_storage().nbytes() for t in tensors}
    return sum(storages.values())


def prepared(training, inputs):
    """As an earlier step has left it."""
    training.step(inputs)
    return training


def watched(name, recipe, module, inputs):
    import recipes
    import watch

    training = prepared(recipes.Training(recipe, module), inputs)
    persistent = training.persistent()
    observer = watch.Watch([*module.parameters(), *module.buffers(), *inputs, *persistent])
    state_bytes = nbytes(persistent)
    del persistent
    with observer:
        training.step(inputs, observer.enter_phase)
    found = {
        "state_bytes": state_bytes,
        "peak_bytes": max(observer.peaks.values()),
        "loss_calls": observer.phases["loss"],
        "update_calls": observer.phases["update"],
    }
    if recipe.autocast == "bfloat16" and recipe.micro_batches == 1:
        found["forward_calls"] = observer.phases["forward"]
        if name == "mlp":  # No sum of two gradients, which autograd makes otherwise here.
            found["backward_calls"] = observer.phases["backward"]
    return found


def tracked(recipe, module, inputs):
    """MemTracker's peak of the whole step."""
    import recipes
    import torch
    from torch.distributed._tools.mem_tracker import MemTracker

    training = prepared(recipes.Training(recipe, module), inputs)
    tracker = MemTracker()
    tracker.track_external(module, training.optimizer, *inputs, *training.persistent())
    with tracker:
        training.step(inputs)
    return int(tracker.get_tracker_snapshot("peak")[torch.device("cuda", 0)]["Total"])


def program_of(name):
    """The exported program; one that is not shipped elsewhere is written beside this script."""
    import pt2_file
    import recipe_models
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        program = pt2_file.export(*recipe_models.BUILDERS[name](), "train")
    if name in recipe_models.OWN_FILES:
        pt2_file.write(program, HERE / f"{name}.pt2", keep_weights=False)
    return program


def record(name, recipe):
    import fake_models
    import torch
    import watch
    from torch._subclasses.fake_tensor import FakeTensorMode

    cast = None if recipe.dtype == "float32" else getattr(torch, recipe.dtype)
    program = program_of(name)
    inputs = program.example_inputs[0]
    module = fake_models.runnable(program, cast)
    mover = fake_models.Mover(cast)
    with FakeTensorMode(), watch.Answers():
        mover.module(module)
        inputs = tuple(mover.tensor(x) for x in inputs)
        found = watched(name, recipe, module, inputs)
        if recipe.micro_batches == 1:
            found["memtracker_bytes"] = tracked(recipe, module, inputs)
    return found


def records():
    import recipe_models
    import recipes

    for name in recipe_models.BUILDERS:
        for recipe in recipes.recipes_of(name):
            start = time.time()
            found = record(name, recipe)
            yield {"model": name, **dataclasses.asdict(recipe), **found}
            print(name, recipe, len(found["update_calls"]), found["peak_bytes"],
                  f"{time.time() - start:.1f} s", file=sys.stderr, flush=True)


def to_text(truth):
    """One record a line."""
    lines = ",\n".join(json.dumps(record, separators=(",", ":")) for record in truth["records"])
    head = json.dumps({key: value for key, value in truth.items() if key != "records"})
    return head[:-1] + ', "records": [\n' + lines + "\n]}\n"


def main():
    import fake_cuda

    fake_cuda.load()  # before torch
    warnings.filterwarnings("ignore")
    import torch

    torch.set_num_threads(1)
    # Else autocast and GradScaler switch themselves off on a build without CUDA.
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.amp.autocast_mode.torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.cuda.is_bf16_supported = lambda *args, **kwargs: True
    truth = {"torch": torch.__version__.split("+")[0], "device": "H200",
             "records": list(records())}
    (HERE / "recipes.json").write_text(to_text(truth))


if __name__ == "__main__":
    main()
