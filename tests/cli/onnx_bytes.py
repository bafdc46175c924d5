"""Writes small ONNX files byte by byte (onnx/onnx.proto), so that broken ones can be made too."""

FLOAT = 1


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def field(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name, shape):
    """A ValueInfoProto of floats; a string in `shape` is a named dimension."""
    dims = b"".join(
        field(1, field(2, size) if isinstance(size, str) else number(1, size)) for size in shape)
    tensor_type = number(1, FLOAT) + field(2, dims)
    return field(1, name) + field(2, field(1, tensor_type))


def graph(nodes, inputs, outputs):
    return (b"".join(field(1, n) for n in nodes) + field(2, "graph") +
            b"".join(field(11, tensor(*item)) for item in inputs.items()) +
            b"".join(field(12, tensor(*item)) for item in outputs.items()))


def subgraph(name, content):
    """An attribute that is a graph."""
    return field(1, name) + field(6, content) + number(20, 5)


def text(name, value):
    """An attribute that is a string."""
    return field(1, name) + field(4, value) + number(20, 3)


def node(op, inputs, outputs, name="", domain="", attributes=()):
    return (b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) +
            field(3, name) + field(4, op) + b"".join(field(5, a) for a in attributes) +
            (field(7, domain) if domain else b""))


def function(name, inputs, outputs, nodes, domain="local"):
    return (field(1, name) + b"".join(field(4, i) for i in inputs) +
            b"".join(field(5, o) for o in outputs) + b"".join(field(7, n) for n in nodes) +
            field(9, field(1, "") + number(2, 17)) + field(9, field(1, domain) + number(2, 1)) +
            field(10, domain))


def model(nodes, inputs, outputs, opset=17, domains=(), functions=()):
    """`inputs` and `outputs` are {name: shape}."""
    opsets = field(8, field(1, "") + number(2, opset))
    opsets += b"".join(field(8, field(1, domain) + number(2, 1)) for domain in domains)
    return (number(1, 8) + field(2, "by hand") + opsets + field(7, graph(nodes, inputs, outputs)) +
            b"".join(field(25, function) for function in functions))
