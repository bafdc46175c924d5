"""Paths of modules as the model's author wrote them, without the wrappers that others put around it."""
from collections.abc import Iterator

from torch import nn

# By the attribute with the wrapped module: torch.compile, FullyShardedDataParallel, checkpoint_wrapper.
_WRAPPED = ("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")
# `module` is the name of an author's module as well: only of these it is a wrapper's.
_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel)


def _wrapped_name(module: nn.Module) -> str | None:
    """The name under which a wrapper has its module; None of any other."""
    if isinstance(module, _PARALLEL):
        return "module"
    return next((name for name in _WRAPPED if name in module._modules), None)


def inner_of(module: nn.Module) -> nn.Module:
    """The module inside a wrapper, or inside several; any other module itself."""
    while (name := _wrapped_name(module)) is not None:
        inner = module._modules[name]
        if inner is None:
            return module
        module = inner
    return module


def paths_of(model: nn.Module) -> Iterator[tuple[nn.Module, str]]:
    """As named_modules gives them; a wrapper has the path of what is in it.

    >>> model = nn.Sequential(nn.DataParallel(nn.Linear(2, 2)))
    >>> [(type(module).__name__, path) for module, path in paths_of(model)]
    [('Sequential', ''), ('DataParallel', '0'), ('Linear', '0')]
    """
    seen: set[int] = set()

    def visit(module: nn.Module, path: str) -> Iterator[tuple[nn.Module, str]]:
        if id(module) in seen:
            return
        seen.add(id(module))
        yield module, path
        wrapped = _wrapped_name(module)
        for name, child in module._modules.items():
            if child is not None:
                yield from visit(child, path if name == wrapped else f"{path}.{name}" if path else name)

    yield from visit(model, "")


def parameters_of(model: nn.Module) -> list[nn.Parameter]:
    """As `parameters`, each once, in any order: without the names that it makes on the way, which take most of its time.

    >>> tied = nn.Linear(2, 2)
    >>> len(parameters_of(nn.Sequential(tied, nn.Sequential(tied), nn.Linear(2, 2))))
    4
    """
    found: dict[int, nn.Parameter] = {}
    seen: set[int] = set()
    rest = [model]
    while rest:
        module = rest.pop()
        if id(module) not in seen:
            seen.add(id(module))
            found.update((id(parameter), parameter) for parameter in module._parameters.values() if parameter is not None)
            rest.extend(child for child in module._modules.values() if child is not None)
    return list(found.values())
