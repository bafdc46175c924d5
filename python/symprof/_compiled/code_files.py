"""An output_code.py that Inductor wrote in another process, run as it is: its buffers and their reuse are the file's own. What its kernels
read and write is in their signatures, and their operations in the comments above them."""
import ast
import contextlib
import math
import os
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import torch

from .._error import Error
from . import kernels, marks, running

_KERNEL = re.compile(r"^(\w+) = async_compile\.triton\(", re.MULTILINE)
_VALUE = re.compile(r"^#\s+%(\w+) : (?:Tensor \"\w+\[([\d, ]*)\])?.*?(?:call_function\[target=torch\.ops\.([\w.]+)\]\(args = (.*)|PlaceHolder)")
_TEMPLATE = "triton_tem_"  # Products, or attention, whose FLOPs are no element's.
_KEPT = re.compile(r"primals_\d+|arg\d+_1")  # Parameters and inputs; other arguments are what a forward pass has saved.


class CodeFile:
    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.text = path, path.read_text(encoding="utf-8")
        try:
            tree = ast.parse(self.text)
        except SyntaxError as error:
            raise Error(f"{path}: is not Python: {error}.") from None
        functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        if "async_compile" not in self.text or "get_args" not in functions:
            raise Error(f"{path}: is no output_code.py of this PyTorch: async_compile, or get_args(), is missing in it.\n"
                        "  TORCH_COMPILE_DEBUG=1 writes it, in torch_compile_debug; a script is run by `symprof run`.")
        if "empty_strided_cuda(" not in self.text:
            raise Error(f"{path}: its code makes no tensor on a GPU.\n  Compile the model on one: its kernels are written for that device.")
        self.is_backward = bool(re.search(r"^# AOT ID: \['\w*backward'\]", self.text, re.MULTILINE))
        self.arguments = list(_names_of_result(functions["get_args"]))
        self.operations = dict(_operations(self.text))

    def kernel(self, name: str, source: str) -> "FileKernel":
        return FileKernel(name, _accesses(source), self.operations.get(name))


def _names_of_result(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.List):
            yield from (entry.id if isinstance(entry, ast.Name) else "" for entry in node.value.elts)


def _operations(text: str) -> Iterator[tuple[str, int]]:
    """By kernel, if each operator of its graph is in the comments, with fixed sizes."""
    before = 0
    for found in _KERNEL.finditer(text):
        lines = text[before:found.start()].rstrip().rsplit("\n\n", 1)[-1].splitlines()
        before = found.end()
        if any("Graph fragment" in line for line in lines) and not found[1].startswith(_TEMPLATE):
            values = [value for line in lines if (value := _VALUE.match(line))]
            if sum(line.startswith("#   %") for line in lines) == len(values):
                with contextlib.suppress(KeyError):  # A size is a symbol.
                    yield found[1], _count(values)


def _count(values: list[re.Match[str]]) -> int:
    """As marks of this process's own code count them."""
    sizes = {value[1]: math.prod(int(size) for size in value[2].split(",") if size.strip()) for value in values if value[2] is not None}
    total = 0
    for value in values:
        operator = _operator(value[3])
        if operator is not None and torch.Tag.pointwise in operator.tags and not marks.is_copy(operator):
            total += sizes[value[1]]
        elif operator is not None and torch.Tag.reduction in operator.tags:
            total += sum(sizes[name] for name in re.findall(r"%(\w+)", value[4]))
    return total


def _operator(name: str | None) -> Any:
    found: Any = torch.ops
    for part in (name or "").split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, torch._ops.OpOverload) else None


def _accesses(source: str) -> list[tuple[bool, bool]]:
    """Of each of the kernel's arguments, whether it reads and whether it writes there."""
    signature = re.search(r"'signature': (\{.*?\})", source)
    names = ast.literal_eval(signature[1]) if signature else {}
    given = [name for name, kind in names.items() if kind != "constexpr"]
    return [(f"tl.load({name} " in source, f"tl.store({name} " in source or f"tl.atomic_add({name} " in source) for name in given]


class FileKernel(kernels.Kernel):
    """A launch whose bytes are those of the tensors that it is given."""

    def __init__(self, name: str, accesses: list[tuple[bool, bool]], operations: int | None) -> None:
        super().__init__(name)
        self.accesses, self.operations = accesses, operations

    def run(self, *args: Any, **kwargs: Any) -> None:
        read = written = 0
        for (reads, writes), value in zip(self.accesses, args, strict=False):
            if isinstance(value, torch.Tensor):
                size = value.numel() * value.element_size()
                read += size * reads
                written += size * writes
        if self.operations is not None:
            marks.put(read, written, self.operations)
        super().run(*args, **kwargs)


def run(file: CodeFile) -> None:
    """In a simulation whose compiler is open: its call, on arguments as the file describes them."""
    from torch._inductor.codecache import PyCodeCache

    program = running.program()
    code: Any = PyCodeCache.load_by_key_path(re.sub(r"\W", "_", file.path.stem), os.fspath(file.path))
    arguments = code.get_args()
    for value in arguments:
        if isinstance(value, torch.Tensor) and value.is_cuda:
            program.add_input(value)
    kept = [value for name, value in zip(file.arguments, arguments, strict=True) if _KEPT.fullmatch(name)]
    program.mark_step()  # Its arguments are there before.
    with torch.no_grad():
        if file.is_backward:
            program.enter_backward(False)
        program.enter_graph()
        program.enter_code()
        results = code.call(arguments)
        program.leave_code()
        program.leave_graph()
        if file.is_backward:
            program.leave_backward()
    program.mark_step()
    del kept, results
