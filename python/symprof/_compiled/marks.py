"""The scheduler's information on a kernel, written into Inductor's code before the launch: `symprof_at(path, read, written,
flops)`."""
import math
import os.path
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from .. import _flex_attention
from . import running

IMPORT = f"from {__name__} import at as symprof_at, scores as symprof_scores, unpadded as symprof_unpadded"
_facts: tuple[int, int, int] | None = None  # Of the kernel that runs next.


def at(path: str, read: int, written: int, flops: int) -> None:
    """Called by the code before a kernel, or before an operator that it calls."""
    global _facts
    _facts = read, written, flops
    running.program().at_kernel(path)


def put(read: int, written: int, flops: int) -> None:
    """The mark of the next launch, in its module."""
    global _facts
    _facts = read, written, flops


def taken() -> tuple[int, int, int] | None:
    """The mark of this launch; one mark is for one launch."""
    global _facts
    found, _facts = _facts, None
    return found


def scores(sizes: tuple[int, int, int, int], counts: Any, full_counts: Any, block: tuple[int, int]) -> int:
    """The code asks it for FlexAttention: how many scores are in the blocks that the mask keeps, where its values are known."""
    found, is_bound = _flex_attention.kept_scores(sizes, (*sizes[2:], counts, None, full_counts, None, *block, None))
    if is_bound:
        running.program().warn(_flex_attention.UNKNOWN_MASK)
    return found


def unpadded(*sizes: str) -> None:
    """Called by the code before the first kernel: products of its graph that the device might pad."""
    running.compilers[-1].unpadded.update(dict.fromkeys(sizes))


def write(nodes: Sequence[Any]) -> None:
    """The mark of a kernel made of these nodes of the scheduler, into the code that is written now."""
    from torch._inductor.virtualized import V

    nodes = [node for node in nodes if hasattr(node, "read_writes")]
    read, written = _traffic(nodes, V.graph)
    origins = [origin for node in nodes if node.node is not None for origin in node.node.get_origins()]
    path = running.compilers[-1].relative(_common(_paths(origins)))
    wrapper: Any = V.graph.wrapper_code
    wrapper.add_import_once(IMPORT)
    compiler = running.compilers[-1]
    if compiler.unwritten:
        wrapper.writeline(f"symprof_unpadded({', '.join(map(repr, compiler.unwritten))})")
        compiler.unwritten = []
    attention = next((found for node in nodes if node.is_template() for found in map(_attention, node.node.get_origins()) if found), "")
    wrapper.writeline(f"symprof_at({path!r}, {read}, {written}, {_operations(origins)}{attention})")


def _attention(origin: Any) -> str:
    """FlexAttention's products, as the code computes their number: of those of scores and values two forward, five backward."""
    place = {"flex_attention": 4, "flex_attention_backward": 9}.get(getattr(origin.target, "__name__", ""))
    if place is None:
        return ""
    query, key, value = (tuple(map(_number, node.meta["val"].shape)) for node in origin.args[:3])
    mask = origin.args[place]
    counts = ", ".join(part.name if isinstance(part, torch.fx.Node) and part.op == "placeholder" else "None" for part in (mask[2], mask[4]))
    products = query[3] + value[3] if place == 4 else 3 * query[3] + 2 * value[3]
    return f" + {2 * products} * symprof_scores({(*query[:3], key[2])}, {counts}, {tuple(map(_number, mask[-3:-1]))})"


def _traffic(nodes: Sequence[Any], graph: Any) -> tuple[int, int]:
    """Bytes moved to and from memory: of a buffer that is written and read in the same kernel only those that are kept."""
    inside = {dependency.name for node in nodes for dependency in node.read_writes.writes}
    removed = graph.removed_buffers | graph.inplaced_to_remove
    reads: dict[str, int] = {}
    writes: dict[str, int] = {}
    for node in nodes:
        _note(reads, node.get_read_write_buffer_accesses(True, False), lambda name: name not in inside)
        _note(writes, node.get_read_write_buffer_accesses(False, True), lambda name: name not in removed)
    return sum(reads.values()), sum(writes.values())


def _note(found: dict[str, int], accesses: dict[str, int], counts: Callable[[str], bool]) -> None:
    for name, size in accesses.items():
        if counts(name):
            found[name] = max(found.get(name, 0), int(size))


def _operations(origins: Iterable[Any]) -> int:
    """One for each number that a fused operator computes, and for each that a reduction reads: the usual count of eager
    mode."""
    total = 0
    for origin in dict.fromkeys(origins):
        if origin.op != "call_function" or not isinstance(origin.target, torch._ops.OpOverload):
            continue
        if torch.Tag.pointwise in origin.target.tags and not is_copy(origin.target):
            total += _numel(origin)
        elif torch.Tag.reduction in origin.target.tags:
            total += sum(_numel(argument) for argument in origin.all_input_nodes)
    return total


def is_copy(target: Any) -> bool:
    return str(target.name()).startswith(("prims::convert_element_type", "aten::clone", "aten::copy", "aten::_to_copy", "aten::alias"))


def _numel(node: Any) -> int:
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return 0
    return math.prod(map(_number, value.shape))


def _number(size: Any) -> int:
    """Of a symbol its hint."""
    from torch._inductor.virtualized import V

    return int(V.graph.sizevars.optimization_hint(size) if isinstance(size, torch.SymInt) else size)


def _paths(origins: Iterable[Any]) -> list[str]:
    """Of the modules that the origins come from, each once."""
    places = running.compilers[-1].places()
    found: dict[str, None] = {}
    for origin in origins:
        stack = origin.meta.get("nn_module_stack") or origin.meta.get("fwd_nn_module_stack")
        for key in reversed(stack or {}):
            number = str(key).partition("@")[0]
            place = places.get(int(number)) if number.isdigit() else None
            if place is not None:
                found[place[0]] = None
                break
    return list(found)


def _common(paths: Sequence[str]) -> str | None:
    """The innermost module that contains all of them."""
    if not paths:
        return None
    parts = [path.split(".") for path in paths]
    return ".".join(os.path.commonprefix(parts))
