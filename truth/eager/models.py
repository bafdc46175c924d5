"""The models of `truth/eager`: those of the zoo and of `truth/foreign`, built as objects."""
import contextlib
import pathlib
import sys

TRUTH = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TRUTH), *(str(TRUTH / part) for part in ("foreign", "zoo", "steps")), str(TRUTH.parent / "models")]

STEPS = ("fp32", "autocast", "bf16", "inference")


def names():
    import catalog
    from architectures import ARCHITECTURES

    return [*ARCHITECTURES, *catalog.all_models()]


def build(name, step):
    """(module, positional arguments, keyword arguments); tensors may have no memory."""
    import catalog
    import fake_models
    import torch
    from architectures import ARCHITECTURES, building
    from torch.utils._pytree import tree_map_only

    torch.manual_seed(0)
    if name in ARCHITECTURES:
        module, args = building.build_without_memory(ARCHITECTURES[name])
        kwargs = {}
    else:
        module, args, kwargs = catalog.all_models()[name].build()
    if step == "bf16":
        with fake_mode_of(module):
            fake_models.cast_in_place(module, torch.bfloat16)
            to_bf16 = lambda x: x.bfloat16() if x.is_floating_point() else x
            args, kwargs = tree_map_only(torch.Tensor, to_bf16, (args, kwargs))
    return module, args, kwargs


def fake_mode_of(module):
    """The mode under which the module was built, if it has no memory."""
    parameter = next(module.parameters(), None)
    return getattr(parameter, "fake_mode", None) or contextlib.nullcontext()
