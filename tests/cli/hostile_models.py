"""Files that were made to harm: each function writes one and returns its path."""
import json
import struct
import zipfile
import zlib

import onnx_bytes as onnx

GIB = 1 << 30


def sparse(path, beginning, size=GIB):
    """`beginning`, then zeros that take no room on the disk."""
    with open(path, "wb") as file:
        file.write(beginning)
        file.truncate(size)
    return path


def tensor_meta(sizes):
    strides = [1] * len(sizes)
    return {"dtype": 7, "sizes": [{"as_int": size} for size in sizes],
            "strides": [{"as_int": stride} for stride in strides], "storage_offset": {"as_int": 0},
            "layout": 7, "device": {"type": "cpu", "index": None}, "requires_grad": False}


def program(nodes, sizes=(4,), result="y", signature=None):
    """models/model.json of a .pt2 with the input x."""
    tensor = lambda name: {"as_tensor": {"name": name}}
    graph = {"inputs": [tensor("x")], "outputs": [tensor(result)], "nodes": nodes,
             "tensor_values": {"x": tensor_meta(sizes)}, "sym_int_values": {}, "sym_bool_values": {}}
    signature = signature or {"input_specs": [{"user_input": {"arg": tensor("x")}}],
                              "output_specs": [{"user_output": {"arg": tensor(result)}}]}
    return {"graph_module": {"graph": graph, "signature": signature}, "range_constraints": {},
            "schema_version": {"major": 8, "minor": 20}, "torch_version": "2.13.0"}


def relu(source, target, stack=None):
    metadata = {"nn_module_stack": stack} if stack else {}
    return {"target": "torch.ops.aten.relu.default", "name": target, "metadata": metadata,
            "inputs": [{"name": "self", "arg": {"as_tensor": {"name": source}}, "kind": 1}],
            "outputs": [{"as_tensor": {"name": target}}]}


def exported(path, text, records=(), method=zipfile.ZIP_STORED):
    """A .pt2 archive; `text` is JSON, or what stands in its place."""
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("m/models/model.json", text if isinstance(text, str) else json.dumps(text))
        for name, content in records:
            archive.writestr(name, content)
    return path


def constant_at(path, offset):
    """A .pt2 archive with a constant of one element, at `offset` in a record of four."""
    model = program([relu("x", "y")])
    graph = model["graph_module"]["graph"]
    graph["inputs"].append({"as_tensor": {"name": "c"}})
    graph["tensor_values"]["c"] = tensor_meta([])
    model["graph_module"]["signature"]["input_specs"].append(
        {"tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "c"}})
    entry = {"path_name": "tensor_0", "is_param": False, "use_pickle": False,
             "tensor_meta": tensor_meta([]) | {"storage_offset": {"as_int": offset}}}
    return exported(path, model, [
        ("m/data/constants/model_constants_config.json", json.dumps({"config": {"c": entry}})),
        ("m/data/constants/tensor_0", bytes(16))])


def weight_without_data(path, size, offset=0):
    """A .pt2 archive with the size of a weight, but without its data."""
    entry = {"path_name": "weight_0", "is_param": True, "use_pickle": False,
             "tensor_meta": tensor_meta([size]) | {"storage_offset": {"as_int": offset}}}
    config = json.dumps({"config": {"w": entry}})
    return exported(path, program([relu("x", "y")]), [("m/data/weights/model_weights_config.json", config)])


def script_records(code, pickle=None):
    """The records of a .pt archive whose module is of the class Net, which `code` defines."""
    training = b"X\x08\x00\x00\x00training"
    module = b"\x80\x02c__torch__\nNet\n)\x81}(" + training + b"\x89ub."
    return [("m/data.pkl", pickle or module), ("m/code/__torch__.py", code.encode()),
            ("m/constants.pkl", b"\x80\x02)."), ("m/version", b"3\n")]


def script(path, code, pickle=None):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in script_records(code, pickle):
            archive.writestr(name, content)
    return path


def net(body, before=""):
    """TorchScript code of a module whose forward has these lines."""
    lines = "".join(f"    {line}\n" for line in body)
    return (f"{before}class Net(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
            f"  def forward(self: __torch__.Net, x: Tensor) -> Tensor:\n{lines}")


def deflated_zeros(size):
    """`size` zeros, which have to be a multiple of 1 MiB: one block, repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return block * (size >> 20) + packer.flush()


def bomb(path, name, size, records=()):
    """An archive of `records` and one more that is `size` zeros once unpacked. Its checksum is right up to 256 MiB: larger
    records are never read to the end."""
    checksum = zlib.crc32(bytes(size)) if size <= 1 << 28 else 0
    entries = []
    for record, content in records:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(content) + packer.flush()
        entries.append((record, packed, len(content), zlib.crc32(content), None))
    return raw_zip(path, [*entries, (name, deflated_zeros(size), size, checksum, None)])


def raw_zip(path, entries):
    """Entries are (name, deflated bytes, size, CRC, offset or None): all as they are given. An entry
    without bytes points at the first one's."""
    body, directory = b"", b""
    for name, data, size, checksum, offset in entries:
        name = name.encode()
        common = struct.pack("<HHHIIIIHH", 20, 0, 8, 0, checksum, len(data), size & 0xFFFFFFFF, len(name), 0)
        if offset is None:
            offset = len(body)
            body += b"PK\x03\x04" + common + name + data
        directory += b"PK\x01\x02\x14\x00" + common + struct.pack("<HHHII", 0, 0, 0, 0, offset) + name
    end = struct.pack("<HHHHIIH", 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path


def large_constant(path, where):
    """A model with a tensor of 1 GiB, as an initializer or as the attribute of a Constant node."""
    rest = (onnx.field(1, onnx.node("Relu", ["x"], ["y"])) + onnx.field(11, onnx.tensor("x", [4])) +
            onnx.field(12, onnx.tensor("y", [4])))
    model = onnx.number(1, 8) + onnx.field(8, onnx.number(2, 17))
    tensor = onnx.number(1, GIB // 4) + onnx.number(2, onnx.FLOAT) + onnx.field(8, "w")
    layers = [(9, tensor), (5, rest), (7, model)]  # From the inside out, as (field, what is before).
    if where == "node":
        attribute = onnx.field(1, "value") + onnx.number(20, 4)
        constant = onnx.field(2, "w") + onnx.field(4, "Constant")
        layers[1:2] = [(5, attribute), (5, constant), (1, rest)]
    content = b""
    for number, before in layers:
        content = before + onnx.varint(number << 3 | 2) + onnx.varint(len(content) + GIB) + content
    return sparse(path, content, len(content) + GIB)


def chain(path, count):
    nodes = [onnx.node("Relu", [f"v{i}" if i else "x"], [f"v{i + 1}"]) for i in range(count)]
    path.write_bytes(onnx.model(nodes, {"x": [4]}, {f"v{count}": [4]}))
    return path


def nested_if(path, levels):
    body = onnx.graph([onnx.node("Relu", ["x"], ["t0"])], {}, {"t0": [4]})
    for level in range(1, levels + 1):
        branches = [onnx.subgraph(side, body) for side in ["then_branch", "else_branch"][:1]]
        node = onnx.node("If", ["c"], [f"t{level}"], attributes=branches)
        body = onnx.graph([node], {}, {f"t{level}": [4]})
    path.write_bytes(onnx.model([node], {"x": [4], "c": []}, {f"t{levels}": [4]}))
    return path


def functions(path, bodies, call="f0"):
    """Local functions by name, each a list of nodes from a to b."""
    written = [onnx.function(name, ["a"], ["b"], nodes) for name, nodes in bodies.items()]
    path.write_bytes(onnx.model([onnx.node(call, ["x"], ["y"], domain="local")], {"x": [4]}, {"y": [4]},
                                domains=["local"], functions=written))
    return path


def laughs(path, levels, leaf):
    """f0 calls f1 twice, which calls f2 twice, …"""
    bodies = {f"f{i}": [onnx.node(f"f{i + 1}", ["a"], ["m"], domain="local"),
                        onnx.node(f"f{i + 1}", ["m"], ["b"], domain="local")] for i in range(levels)}
    return functions(path, bodies | {f"f{levels}": leaf})
