"""Dumps of submodules, as onnx-diagnostic writes them. Used by make_golden.py."""
import contextlib
import io
import os

import ml_dtypes
import numpy as np
import onnx
import torch
from onnx_diagnostic.helpers.mini_onnx_builder import create_input_tensors_from_onnx_model, create_onnx_model_from_input_tensors
from onnx_diagnostic.helpers.torch_helper import steal_append, steal_forward

import oracle as o
from golden_models import LLM


def dumps(root):
    """Files of steal_forward and of the mini-onnx builder, with what they hold in dumps.json."""
    os.makedirs(f"{root}/dumps", exist_ok=True)
    out = {}

    def see(v):
        if isinstance(v, torch.Tensor):
            return ["tensor", str(v.dtype).replace("torch.", ""), list(v.shape), v.float().flatten().tolist()[:6]]
        if isinstance(v, np.ndarray):
            return ["array", str(v.dtype), list(v.shape), [str(i) for i in v.flatten().tolist()[:6]]]
        if isinstance(v, dict):
            return ["dict", {str(k): see(i) for k, i in v.items()}]
        if isinstance(v, (tuple, list)):
            return [type(v).__name__, [see(i) for i in v]]
        return [type(v).__name__, v if isinstance(v, (int, float, bool, str, type(None))) else str(v)]

    def listing(name):
        path = f"{root}/dumps/{name}.onnx"
        m = onnx.load(path)
        e = dict(outputs=[[v.name, v.type.tensor_type.elem_type, o.dims(v)] for v in m.graph.output], initializers=[[t.name, t.data_type, list(t.dims)] for t in m.graph.initializer], nodes=[[n.op_type, list(n.input), list(n.output)] for n in m.graph.node], doc_string=m.doc_string, ir_version=m.ir_version, opset=m.opset_import[0].version)
        try:
            e["restored"] = see(create_input_tensors_from_onnx_model(path))
        except Exception as x:
            e["restored"] = f"{type(x).__name__}: {str(x)[:200]}"
        out[name] = e

    torch.manual_seed(1)
    model = LLM().eval()
    ids = torch.randint(0, 128, (2, 8))

    def steal(name, mods, calls, **kw):
        text = io.StringIO()
        with contextlib.redirect_stdout(text), torch.no_grad():
            with steal_forward(mods, dump_file=f"{root}/dumps/{name}.onnx", verbose=1, save_as_external_data=False, **kw):
                for c in calls:
                    c()
        o.write(f"{root}/dumps/{name}.log.txt", text.getvalue())
        listing(name)

    d = model.decoder
    named = [("model", model), ("model.decoder", d), ("model.decoder.attention", d.attention), ("model.decoder.feed_forward", d.feed_forward), ("model.decoder.norm_1", d.norm_1), ("model.decoder.norm_2", d.norm_2)]
    steal("one_run", named, [lambda: model(ids)], storage_limit=2**28)
    steal("three_runs_kwargs", named[:2], [lambda: model(ids), lambda: model(input_ids=ids[:1]), lambda: model(ids[:, :3])])
    steal("limit", named, [lambda: model(ids)], storage_limit=1024)
    steal("extra", named[:1], [lambda: (steal_append("extra", [ids, ids + 1]), steal_append("extra", {"k": ids}), model(ids))])
    steal("all_submodules", model, [lambda: model(ids)], submodules=True)

    torch.manual_seed(2)
    x = torch.randn(2, 3)
    cases = dict(
        nested=dict(a=x, b=[x, (x + 1, 2)], c={"d": x, "e": {"f": 1, "g": 2.5, "h": True}}, z=()),
        empties=dict(a=None, b=[], c={}, d=(), e=x),
        scalars=(1, 2.5, True),
        one_tensor=x,
        types_np={str(t): np.array([0, 1, 2], dtype=t) for t in ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"]},
        types_torch={str(t).replace("torch.", ""): torch.tensor([0, 1, 2]).to(t) for t in [torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64]},
        bfloat16=dict(t=torch.tensor([1.5, -2.25]).to(torch.bfloat16)),
        float8=dict(t=torch.tensor([1.5, -2.0]).to(torch.float8_e4m3fn)),
        bfloat16_np=dict(t=np.array([1.5, -2.25], dtype=ml_dtypes.bfloat16)),
        complex=dict(t=torch.tensor([1 + 2j])),
        strings=dict(t=np.array(["a", "bc"], dtype=np.str_)),
        zero_size=dict(t=torch.zeros(0, 3)),
        keys={("model.decoder", 0, "I"): ((x,), {"mask": x}), ("model.decoder", 0, "O"): x},
    )
    for name, obj in cases.items():
        try:
            onnx.save(create_onnx_model_from_input_tensors(obj), f"{root}/dumps/{name}.onnx")
            listing(name)
        except Exception as e:
            out[name] = dict(refused=f"{type(e).__name__}: {str(e)[:200]}")
    rnd = create_onnx_model_from_input_tensors(dict(a=x, b=x.abs(), c=torch.arange(3)), randomize=True)
    out["randomize"] = dict(nodes=[[n.op_type, list(n.input), list(n.output), {a.name: (a.f or a.i or list(a.ints)) for a in n.attribute}] for n in rnd.graph.node])
    o.write_json(f"{root}/dumps/dumps.json", out, rows=())
    return {k: ("refused" if "refused" in v else "ok" if not isinstance(v.get("restored"), str) else "not restored") for k, v in out.items()}
