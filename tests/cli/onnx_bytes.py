"""Writes small ONNX files byte by byte (onnx/onnx.proto), so that broken ones can be made too."""

FLOAT = 1


def _varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _tensor(name, shape):
    """A ValueInfoProto of floats; a string in `shape` is a named dimension."""
    dims = b"".join(
        _bytes(1, _bytes(2, size) if isinstance(size, str) else _number(1, size)) for size in shape)
    tensor_type = _number(1, FLOAT) + _bytes(2, dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor_type))


def node(op, inputs, outputs, name="", domain=""):
    return (b"".join(_bytes(1, i) for i in inputs) + b"".join(_bytes(2, o) for o in outputs) +
            _bytes(3, name) + _bytes(4, op) + (_bytes(7, domain) if domain else b""))


def model(nodes, inputs, outputs, opset=17, domains=()):
    """`inputs` and `outputs` are {name: shape}."""
    graph = (b"".join(_bytes(1, n) for n in nodes) + _bytes(2, "graph") +
             b"".join(_bytes(11, _tensor(*item)) for item in inputs.items()) +
             b"".join(_bytes(12, _tensor(*item)) for item in outputs.items()))
    opsets = _bytes(8, _bytes(1, "") + _number(2, opset))
    opsets += b"".join(_bytes(8, _bytes(1, domain) + _number(2, 1)) for domain in domains)
    return _number(1, 8) + _bytes(2, "by hand") + opsets + _bytes(7, graph)
