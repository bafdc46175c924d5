"""Writes the overloads whose kernels a CUDA build of the installed PyTorch has, with the kinds of tensors that they are for."""
import pathlib

import torch
import torchgen
from torchgen.gen import parse_native_yaml
from torchgen.model import DispatchKey

KINDS = {"d": (DispatchKey.CUDA,), "s": (DispatchKey.SparseCUDA, DispatchKey.SparseCsrCUDA),
         "q": (DispatchKey.QuantizedCUDA,), "n": (DispatchKey.NestedTensorCUDA,)}


def kinds_of(function, indices):
    def has(key):
        return key in indices and indices[key].has_kernel(function)

    found = {letter for letter, keys in KINDS.items() if any(map(has, keys))}
    # A structured overload has the kernel of the one that it delegates to.
    return found | ({"d"} if function.structured_delegate else set())


def main():
    folder = pathlib.Path(torchgen.__file__).parent / "packaged/ATen/native"
    parsed = parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    print(f"# Overloads with kernels for CUDA in PyTorch {torch.__version__.split('+')[0]} (native_functions.yaml)")
    rows = {f"aten::{function.func.name}": kinds_of(function, parsed.backend_indices) for function in parsed.native_functions}
    for name in sorted(rows):
        if rows[name]:
            print(name, "".join(sorted(rows[name])))


if __name__ == "__main__":
    main()
