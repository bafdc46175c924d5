"""One case: an operator, its operands and attributes, and where its truth comes from."""
import dataclasses
import zlib

import numpy as np


@dataclasses.dataclass
class Entry:
    op: str
    form: str
    inputs: list  # Arrays; None for an operand that is left out.
    attributes: dict
    outputs: list  # True for each output that the node names.
    constant: tuple = ()  # Operands that are initializers.
    reference: object = None  # A function from the entry to its outputs, instead of onnxruntime.
    rtol: float = 1e-4
    atol: float = 1e-5

    @property
    def name(self):
        return f"{self.op}_{self.form}" if self.form else self.op


def entry(op, form, inputs, outputs=1, constant=(), reference=None, rtol=1e-4, atol=1e-5, **attributes):
    named = [True] * outputs if isinstance(outputs, int) else list(outputs)
    return Entry(op, form, list(inputs), attributes, named, tuple(constant), reference, rtol, atol)


class Random:
    """Numbers that depend on the name only."""

    def __init__(self, name):
        self.generator = np.random.default_rng(zlib.crc32(name.encode()))

    def reals(self, *sizes, scale=1.0, dtype=np.float32):
        return (self.generator.standard_normal(sizes) * scale).astype(dtype)

    def positive(self, *sizes, dtype=np.float32):
        return self.generator.uniform(0.5, 1.5, sizes).astype(dtype)

    def integers(self, low, high, *sizes, dtype=np.int32):
        return self.generator.integers(low, high, sizes).astype(dtype)

    def bytes(self, *sizes, dtype=np.uint8):
        limits = np.iinfo(dtype)
        return self.integers(limits.min, limits.max + 1, *sizes, dtype=dtype)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


def vector(*values, dtype=np.float32):
    return np.array(values, dtype)
