"""What a simulation has for each overload that a CUDA build of PyTorch registers."""
import argparse
import pathlib
import re
import sys

import symprof  # Before torch.

import torch
from symprof import _kernels

HERE = pathlib.Path(__file__).parent
DOCUMENT = HERE.parent.parent / "docs/reference/operators.md"
BEGIN, END = "<!-- coverage: truth/operator_coverage/coverage.py --write -->", "<!-- end of coverage -->"
COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
WORDS = {
    "composite": "made of other operators on every device (composite)",
    "cpp": "a shape kernel in C++, LibTorch's or of `meta/kernels/`",
    "python": "PyTorch's own shape function or decomposition in Python, asked once for each signature",
    "refused": "refused, by a sentence that says what to do (`truth/operator_coverage/refused.txt`)",
}


def recorded(name):
    """Lines of a file of this folder, without comments: the first word, and the rest."""
    lines = (HERE / name).read_text().splitlines()
    return dict(line.partition(" ")[::2] for line in lines if line and not line.startswith("#"))


def version():
    return ".".join(torch.__version__.split(".")[:2])


def overloads():
    """Those with a kernel for CUDA, and those that are made of others; operators of other devices are left out."""
    on_cuda = recorded(f"cuda_{version()}.txt")
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        if name.startswith("aten::") and (name in on_cuda or is_composite(name)):
            yield name


def has(name, key):
    return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)


def is_composite(name):
    return any(has(name, key) for key in COMPOSITE)


def coverage():
    """Overload: a word of WORDS. What has no kernel is refused when it is called, and so are kernels that only refuse."""
    refused, kinds = recorded("refused.txt"), recorded(f"cuda_{version()}.txt")
    found = {}
    with symprof.simulate():
        in_python = {op.name() for op, _ in _kernels._missing_in_cpp(_kernels._taken)}
        for name in overloads():
            if name in refused:
                found[name] = "refused"
            elif name in in_python:
                found[name] = "python"
            elif has(name, "Meta"):
                found[name] = "cpp"
            elif is_composite(name):
                found[name] = "composite"
            else:  # For sparse, quantized or nested tensors alone.
                found[name] = "refused" if "d" not in kinds.get(name, "d") else "unexpected"
    return found


def table(found):
    rows = [f"| overloads of aten in PyTorch {version()} with a kernel for CUDA, or made of others | {len(found):,} |", "| --- | --- |"]
    for word, meaning in WORDS.items():
        count = sum(value == word for value in found.values())
        if count:
            rows.append(f"| {meaning} | {count:,} |")
    return "\n".join(rows)


def write(text):
    document = DOCUMENT.read_text()
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    DOCUMENT.write_text(pattern.sub(lambda _: f"{BEGIN}\n{text}\n{END}", document))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the counts into docs/reference/operators.md")
    parser.add_argument("--list", action="store_true", help="name the overloads that have neither a kernel in C++ nor parts")
    options = parser.parse_args()
    found = coverage()
    print(table(found))
    if options.list:
        print(*(f"{word} {name}" for name, word in found.items() if word not in ("cpp", "composite")), sep="\n")
    if options.write:
        write(table(found))
    return 1 if "unexpected" in found.values() else 0


if __name__ == "__main__":
    sys.exit(main())
