"""Models as PyTorch's exporters write them. Used by make_golden.py and llama_twice.py."""
import io

import onnx
import torch
from torch._decomp import core_aten_decompositions
from torch.fx.experimental.proxy_tensor import make_fx


def export(model, args, kwargs=None, dynamic_shapes=None, opset=None, optimize=False):
    """The dynamo exporter, as exported (nothing simplified) unless asked."""
    ep = torch.onnx.export(model.eval(), args, kwargs=kwargs, dynamic_shapes=dynamic_shapes, dynamo=True, optimize=optimize, verbose=False, opset_version=opset, external_data=False)
    return slim_metadata(ep.model_proto)


def export_script(model, args, opset=17, **kw):
    """The older TorchScript exporter: other operators and other names for the same model."""
    f = io.BytesIO()
    torch.onnx.export(model.eval(), args, f, dynamo=False, opset_version=opset, verbose=False, **kw)
    return slim_metadata(onnx.load_from_string(f.getvalue()))


def slim_metadata(m):
    """Keeps only the module path of each node: stack traces are most of an exported file."""

    def nodes(g):
        for n in g.node:
            keep = [(p.key, p.value) for p in n.metadata_props if p.key == "namespace"]
            del n.metadata_props[:]
            n.doc_string = ""
            for k, v in keep:
                p = n.metadata_props.add()
                p.key, p.value = k, v
            for a in n.attribute:
                if a.type == onnx.AttributeProto.GRAPH:
                    nodes(a.g)

    nodes(m.graph)
    for f in m.functions:
        nodes(f)
        del f.metadata_props[:]
    del m.graph.metadata_props[:]
    del m.metadata_props[:]
    for v in [*m.graph.value_info, *m.graph.input, *m.graph.output, *m.graph.initializer]:
        del v.metadata_props[:]
    return m


def training(model, x, y, loss):
    """Forward, loss and gradients of every parameter in one graph, parameters as inputs."""
    names = [n for n, _ in model.named_parameters()]
    ps = [p.detach().clone() for p in model.parameters()]

    def step(params, x, y):
        params = [p.detach().requires_grad_(True) for p in params]
        out = torch.func.functional_call(model, dict(zip(names, params)), (x,))
        v = loss(out, y)
        return (v.detach(), *torch.autograd.grad(v, params))

    class Step(torch.nn.Module):
        def __init__(self, gm):
            super().__init__()
            self.gm = gm

        def forward(self, *a):
            return self.gm(list(a[:-2]), a[-2], a[-1])

    gm = make_fx(step, decomposition_table=core_aten_decompositions())(ps, x, y)
    return export(Step(gm), (*ps, x, y))
