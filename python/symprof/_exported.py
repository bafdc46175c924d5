"""An exported program under torch.compile: its modules under their names, and its operators as they were exported."""
import os
from collections.abc import Callable
from typing import Any

import torch

from ._error import Error
from ._module import profile_call
from ._profile import Profile

_LOSSES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"sum": torch.Tensor.sum, "mean": torch.Tensor.mean}


def profile_compiled(program: torch.export.ExportedProgram | str | os.PathLike[str], settings: dict[str, Any]) -> Profile:
    """The step of the program on its example inputs, as torch.compile compiles it. Sizes are those of a module: `batch` and `seq`."""
    name = "ExportedProgram"
    if not isinstance(program, torch.export.ExportedProgram):
        name, program = os.path.basename(program), _loaded(os.fspath(program))
    if program.example_inputs is None:
        raise Error("compile: the program has no example inputs.\n  torch.export.save keeps those that torch.export.export was given.")
    loss = _loss(settings.pop("loss", None))
    model: Any = torch.compile(_modules_of(program))
    return profile_call(model, program.example_inputs, loss, name, settings)


def _loaded(path: str) -> torch.export.ExportedProgram:
    if not path.endswith(".pt2"):
        raise Error(f"{path}: is no exported program.\n  torch.compile takes a .pt2 file (torch.export.save) or a module.")
    try:
        return torch.export.load(path)
    except Exception as error:
        raise Error(f"{path}: torch {torch.__version__} cannot load it: {error}\n  symprof profile without --compile needs no torch.export.") from error


def _modules_of(program: torch.export.ExportedProgram) -> torch.nn.Module:
    """Modules as they were before the export. Checks of dtypes and devices hold for the exporting machine alone."""
    for part in program.graph_module.modules():
        if not isinstance(part, torch.fx.GraphModule):
            continue
        for node in list(part.graph.nodes):
            if node.target is torch.ops.aten._assert_tensor_metadata.default:
                part.graph.erase_node(node)
            elif node.kwargs.get("device") is not None:
                node.kwargs = {**node.kwargs, "device": torch.device("cuda")}
        part.recompile()
    return torch.export.unflatten(program)


def _loss(name: Any) -> Any:
    """None for gradients of ones."""
    if name is None or name == "ones" or callable(name):
        return None if name == "ones" else name
    if name not in _LOSSES:
        raise Error(f"loss: '{name}' is not known with compile.\n  It may be: ones, {', '.join(_LOSSES)}, or in Python a function of the output.")
    reduce = _LOSSES[name]
    return lambda output: reduce(output if isinstance(output, torch.Tensor) else output[0])
