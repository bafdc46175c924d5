"""Modules and exported programs whose tensors are fake ones on a CUDA device, in any dtype."""
import torch


class Mover:
    """Gives each tensor its fake CUDA counterpart; the same tensor always has the same one.

    Floating-point tensors get `dtype`, unless it is None. Use under a FakeTensorMode.
    """

    def __init__(self, dtype):
        self.dtype = dtype
        self.moved = {}
        self.originals = []  # their identities are the keys

    def tensor(self, original, keep_dtype=False):
        key = (original.untyped_storage()._cdata, original.storage_offset(), original.shape)
        if key not in self.moved:
            cast = self.dtype and original.is_floating_point() and not keep_dtype
            self.moved[key] = torch.empty_strided(
                original.shape,
                original.stride(),
                dtype=self.dtype if cast else original.dtype,
                device="cuda",
            )
            if isinstance(original, torch.nn.Parameter):
                self.moved[key] = torch.nn.Parameter(self.moved[key], original.requires_grad)
            self.originals.append(original)
        return self.moved[key]

    def module(self, module):
        """Moves parameters, also those that lists name, buffers and tensors held as attributes (constants), in place."""
        for part in module.modules():
            for tensors in (part._parameters, part._buffers):
                for name, tensor in list(tensors.items()):
                    if tensor is not None:
                        tensors[name] = self.tensor(tensor)
            for name, value in list(vars(part).items()):
                if isinstance(value, torch.Tensor):
                    setattr(part, name, self.tensor(value, keep_dtype=True))
                elif isinstance(value, list) and value and all(isinstance(x, torch.nn.Parameter) for x in value):
                    setattr(part, name, [self.tensor(x) for x in value])
        return module


def flatten_recurrent(module):
    """`flatten_parameters` of recurrent layers on a device, which fake tensors leave out: one block has the weights of a layer."""
    for layer in module.modules():
        if not isinstance(layer, torch.nn.RNNBase) or len({weight.dtype for weight in layer.parameters()}) != 1:
            continue
        first = next(layer.parameters())
        block = torch.empty(sum(weight.numel() for weight in layer.parameters()), dtype=first.dtype, device=first.device)
        parts = block.split([weight.numel() for weight in layer.parameters()])
        for (name, weight), part in zip(list(layer.named_parameters()), parts, strict=True):
            setattr(layer, name, torch.nn.Parameter(part.view(weight.shape), weight.requires_grad))


def cast_in_place(module, dtype):
    """module.to(dtype), which cannot swap fake parameters; tied ones stay tied."""
    cast = {}
    for part in module.modules():
        for tensors in (part._parameters, part._buffers):
            for name, tensor in tensors.items():
                if tensor is None or not tensor.is_floating_point():
                    continue
                if id(tensor) not in cast:
                    other = tensor.detach().to(dtype)
                    is_parameter = isinstance(tensor, torch.nn.Parameter)
                    cast[id(tensor)] = (
                        torch.nn.Parameter(other, tensor.requires_grad) if is_parameter else other
                    )
                tensors[name] = cast[id(tensor)]


def takes_dtype_of_input(node):
    """x.to(device) is exported as a cast to the dtype that x had."""
    return node.target == torch.ops.aten.to.dtype_layout


def runnable(program, dtype=None):
    """The module of an exported program, with everything it makes going to the CUDA device.

    `dtype` is what its floating-point parameters, buffers and inputs will be cast to, if any.
    """
    cuda = torch.device("cuda:0")
    for graph_module in program.graph_module.modules():
        if not isinstance(graph_module, torch.fx.GraphModule):
            continue
        for node in list(graph_module.graph.nodes):
            if "_assert_tensor_metadata" in str(node.target):
                graph_module.graph.erase_node(node)  # it wants the device and dtype of the export
                continue
            moved = [cuda if isinstance(arg, torch.device) else arg for arg in node.args]
            node.args = tuple(moved)
            if node.kwargs.get("device") is not None:
                node.kwargs = {**node.kwargs, "device": cuda}
            if dtype and takes_dtype_of_input(node) and node.kwargs["dtype"].is_floating_point:
                node.kwargs = {**node.kwargs, "dtype": dtype}
        graph_module.recompile()
    return OneOutput(program.module(check_guards=False))


class OneOutput(torch.nn.Module):
    """An exported program as a module of fixed mode: the mode is in its calls."""

    def __init__(self, program):
        super().__init__()
        self.program = program

    def forward(self, *inputs):
        output = self.program(*inputs)
        return output[0] if isinstance(output, (tuple, list)) else output

    def train(self, mode=True):
        return self
