"""A trace as a module whose calls are made one by one in Python, on whatever tensors it is given.

torch.jit.trace keeps neither `torch.no_grad()` nor calls whose results nothing uses, and it writes down numbers and
small tensors: a trace may be another program than the module that it was made from.
"""
import collections
import contextlib
import operator

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

CUDA, HOST = torch.device("cuda:0"), torch.device("cpu")
# What a trace's stacks show of regions: functions under `@torch.no_grad()`, and under `@torch.autocast(…, enabled=False)`, as
# the packages here write it.
DECORATORS = (("torch/utils/_contextlib.py(", ": decorate_context", torch.no_grad),
              ("torch/amp/autocast_mode.py(", ": decorate_autocast", lambda: torch.autocast("cuda", enabled=False)))
ARITHMETIC = {"aten::add": operator.add, "aten::sub": operator.sub, "aten::mul": operator.mul,
              "aten::floordiv": operator.floordiv, "aten::__getitem__": operator.getitem}
NUMBERS = {"aten::Int": int, "aten::Float": float, "aten::Bool": bool, "aten::ScalarImplicit": lambda x: x.item(),
           "aten::IntImplicit": int, "aten::FloatImplicit": float, **ARITHMETIC}


def tensors_in(arguments):
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            yield argument
        elif isinstance(argument, (list, tuple)):
            yield from tensors_in(argument)


def regions_of(node):
    """What the decorators make that are in Python's stack of a call."""
    frames = node.sourceRange().partition("torch/jit/_trace.py(")[0].splitlines()
    return [region for file, function, region in DECORATORS
            if any(file in frame and frame.endswith(function) for frame in frames)]


def last_uses(graph):
    """{number of a node: names of the values that no later node takes}; a value that nothing takes goes with its maker."""
    last, kept = {}, {value.debugName() for value in graph.outputs()}
    for number, node in enumerate(graph.nodes()):
        last.update((value.debugName(), number) for value in (*node.outputs(), *node.inputs()))
    found = collections.defaultdict(list)
    for name, number in last.items():
        if name not in kept:
            found[number].append(name)
    return found


class TracedProgram(torch.nn.Module):
    """Its parameters, and its buffers and constants, are those of a module; new tensors are made on the CUDA device.
    What the trace computes from sizes is real. A value is dropped at its last use, as in the code that torch.fx
    generates; what is given to a method is held until that returns."""

    def __init__(self, traced):
        super().__init__()
        self.graphs = {(path, name): part._c._get_method(name).graph
                       for path, part in traced.named_modules(remove_duplicate=False) for name in part._c._method_names()}
        self.last_uses = {place: last_uses(graph) for place, graph in self.graphs.items()}
        self.held = {}  # of tensors of the trace: where they are held here
        for name, tensor in [*traced.named_parameters(remove_duplicate=False),
                             *traced.named_buffers(remove_duplicate=False)]:
            self.held[name] = f"held_{len(self.held)}"
            hold = self.register_parameter if isinstance(tensor, torch.nn.Parameter) else self.register_buffer
            hold(self.held[name], tensor)
        for place, graph in self.graphs.items():
            for node in graph.findAllNodes("prim::Constant"):
                value = node.output().toIValue()
                if isinstance(value, torch.Tensor) and value.dim() > 0:
                    self.held[place, node.output().debugName()] = f"held_{len(self.held)}"
                    self.register_buffer(f"held_{len(self.held) - 1}", value)

    def forward(self, *inputs):
        return self.call_method(("", "forward"), inputs)

    def call_method(self, place, inputs):
        graph = self.graphs[place]
        values = dict(zip([value.debugName() for value in graph.inputs()], [place[0], *inputs]))  # a module is its path
        for number, node in enumerate(graph.nodes()):
            self.run_into(values, place, node)
            for name in self.last_uses[place][number]:
                del values[name]
        return values[next(graph.outputs()).debugName()]

    def run_into(self, values, place, node):
        """A function of its own, so that no variable holds its result while the next node runs."""
        results = self.run(place, node, [values[value.debugName()] for value in node.inputs()])
        outputs = list(node.outputs())
        for output, result in zip(outputs, [results] if len(outputs) == 1 else results):
            values[output.debugName()] = result

    def run(self, place, node, arguments):
        kind = node.kind()
        if kind == "prim::Constant":
            return self.constant(place, node.output())
        if kind == "prim::GetAttr":
            name = f"{arguments[0]}.{node.s('name')}".lstrip(".")
            return getattr(self, self.held[name]) if name in self.held else name
        if kind == "prim::CallMethod":
            return self.call_method((arguments[0], node.s("name")), arguments[1:])
        if kind in ("prim::ListConstruct", "prim::TupleConstruct"):
            return list(arguments) if kind == "prim::ListConstruct" else tuple(arguments)
        if kind in ("prim::ListUnpack", "prim::TupleUnpack"):
            return list(arguments[0])
        if kind == "prim::NumToTensor":
            with unset_fake_temporarily():
                return torch.tensor(arguments[0])
        if kind in NUMBERS and (kind not in ARITHMETIC or not list(tensors_in(arguments))):
            with unset_fake_temporarily():
                return NUMBERS[kind](*arguments)
        with contextlib.ExitStack() as stack:
            for region in regions_of(node):
                stack.enter_context(region())
            return self.call(torch._C.parse_schema(node.schema()), arguments)

    def constant(self, place, output):
        if (place, output.debugName()) in self.held:
            return getattr(self, self.held[place, output.debugName()])
        if str(output.type()) == "Device":
            return CUDA
        value = output.toIValue()
        if isinstance(value, torch.Tensor):
            with unset_fake_temporarily():
                return value.item()  # a number of Python
        return value

    def call(self, schema, arguments):
        operator = getattr(getattr(torch.ops.aten, schema.name.removeprefix("aten::")), schema.overload_name or "default")
        names = [argument.name for argument in schema.arguments]
        first = sum(not argument.kwarg_only for argument in schema.arguments)
        given = list(tensors_in(arguments))
        if not given or any(isinstance(x, FakeTensor) for x in given):
            return operator(*arguments[:first], **dict(zip(names[first:], arguments[first:])))
        arguments = [HOST if x is CUDA else x for x in arguments]  # sizes
        with unset_fake_temporarily():
            return operator(*arguments[:first], **dict(zip(names[first:], arguments[first:])))
