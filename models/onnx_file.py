"""Exports a model as ONNX, by either of PyTorch's exporters, and writes it without weights."""
import inspect
import io
import re

import onnx
import onnx.numpy_helper
import onnx_ir
import onnxscript.optimizer
import torch
from torch._subclasses.fake_tensor import FakeTensor

import pt2_file

KEPT = 1024  # bytes; larger initializers become references to a file that is not there
LOCATION = "weights.not_shipped"
DROPPED_METADATA = ("namespace", "pkg.torch.onnx.stack_trace", "pkg.torch.onnx.fx_node")
DROPPED_IF_TOO_BIG = ("pkg.torch.onnx.class_hierarchy",)


def stand_in(tensor):
    """A real tensor for a fake one: zeros, which take no memory until something writes to them.

    Small ones differ from each other, because the exporter merges initializers of equal content.
    """
    if tensor.numel() <= 65536 and tensor.is_floating_point():
        return torch.rand(tensor.shape, dtype=tensor.dtype)
    return torch.zeros(tensor.shape, dtype=tensor.dtype)


def with_values(program):
    """The program with real tensors in place of fake ones: the exporter's passes look at them."""
    made = {}
    for tensors in (program.state_dict, program.constants):
        for name, tensor in tensors.items():
            if not isinstance(tensor, FakeTensor):
                continue
            key = tensor.untyped_storage()._cdata
            if key not in made:
                value = stand_in(tensor)
                is_parameter = isinstance(tensor, torch.nn.Parameter)
                made[key] = torch.nn.Parameter(value) if is_parameter else value
            tensors[name] = made[key]
    return program


def absent(tensor):
    """The same tensor, whose data is said to lie in a file that does not exist."""
    return onnx_ir.ExternalTensor(
        LOCATION, 0, tensor.nbytes, tensor.dtype, shape=tensor.shape, name=tensor.name
    )


def fold_small_constants(model):
    """What the exporter's optimizer does with shape arithmetic, without touching weights."""
    limits = {"input_size_limit": KEPT, "output_size_limit": KEPT}
    touches_weights = ("Transpose", "Cast", "CastLike")
    onnxscript.optimizer.optimize_ir(
        model,
        onnx_shape_inference=False,
        should_fold=lambda node: False if node.op_type in touches_weights else None,
        **limits,
    )


def by_dynamo(program, opset, optimization):
    """torch.onnx.export(dynamo=True) of an exported program."""
    exported = torch.onnx.export(
        with_values(program),
        dynamo=True,
        opset_version=opset,
        optimize=optimization == "exporter's",
        verbose=False,
    )
    if optimization == "small":
        fold_small_constants(exported.model)
    for value in exported.model.graph.initializers.values():
        if value.const_value.nbytes > KEPT:
            value.const_value = absent(value.const_value)
    return exported.model_proto


def by_torchscript(module, inputs, mode):
    """torch.onnx.export(dynamo=False): it traces the module, constants unfolded in training."""
    module.train(mode == "train")
    modes = torch.onnx.TrainingMode
    buffer = io.BytesIO()
    torch.onnx.export(
        module,
        inputs,
        buffer,
        dynamo=False,
        input_names=list(inspect.signature(module.forward).parameters)[: len(inputs)],
        training=modes.TRAINING if mode == "train" else modes.EVAL,
        do_constant_folding=False,
    )
    return onnx.load_from_string(buffer.getvalue())


def raw_size(tensor):
    return len(tensor.raw_data) or onnx.numpy_helper.to_array(tensor).nbytes


def drop_data(tensor):
    """What absent() does, of a protobuf tensor."""
    size = raw_size(tensor)
    for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data"):
        tensor.ClearField(field)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", LOCATION), ("offset", "0"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)


def name_dimensions(model, dynamic):
    """An exported program forgets the names of its dynamic dimensions; this gives them back."""
    names = {}
    for value, dimensions in zip(model.graph.input, dynamic or ()):
        for index, dimension in dimensions.items():
            names[value.type.tensor_type.shape.dim[index].dim_param] = dimension.__name__
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_param = re.sub(
                    r"\bs\d+\b", lambda match: names.get(match[0], match[0]), dim.dim_param
                )


def shorten_metadata(model):
    """Drops source lines and graph text, and class names if need be; module names stay."""
    nodes = [node for holder in (model.graph, *model.functions) for node in holder.node]
    for dropped in (DROPPED_METADATA, DROPPED_IF_TOO_BIG):
        for node in nodes:
            kept = [entry for entry in node.metadata_props if entry.key not in dropped]
            del node.metadata_props[:]
            node.metadata_props.extend(kept)
            node.ClearField("doc_string")
        if model.ByteSize() < pt2_file.SIZE_LIMIT:
            return


def write(model, path, dynamic=None):
    name_dimensions(model, dynamic)
    for initializer in model.graph.initializer:
        inside = initializer.data_location != onnx.TensorProto.EXTERNAL
        if inside and raw_size(initializer) > KEPT:
            drop_data(initializer)
    shorten_metadata(model)
    path.write_bytes(model.SerializeToString(deterministic=True))
