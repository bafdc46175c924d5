"""Which operators of onnxruntime and torchvision (packages.txt) have a rule: counts, and the names of those without.

    packages.py SYMPROF TEXT_TO_ONNX
"""
import pathlib
import re
import subprocess
import sys
import tempfile

LIST = pathlib.Path(__file__).with_name("packages.txt")


def listed(domain):
    lines = LIST.read_text().splitlines()
    return [line for line in lines if line.startswith(domain + "::")]


def without_rule(symprof, text_to_onnx, operators):
    """A file with a node of each, whose results have no type: the program names all that it has no rule for."""
    nodes = [f"  h{i} = com.microsoft.{name.partition('::')[2]} (x)" for i, name in enumerate(operators)]
    model = ('<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1, "none.such" : 1]>\n'
             "all (float[1] x) => (float[1] y) {\n" + "\n".join(nodes) + "\n  n = none.such.Operator (x)\n  y = Relu (n)\n}\n")
    with tempfile.TemporaryDirectory() as folder:
        onnx = pathlib.Path(folder, "all.onnx")
        subprocess.run([text_to_onnx, onnx], input=model, text=True, check=True)
        found = subprocess.run([symprof, "profile", onnx, "--mode", "inference"], capture_output=True, text=True, check=False)
    names = set(re.findall(r"(\S+::\w+) \(", found.stderr))
    if "none.such::Operator" not in names:
        sys.exit(f"another error than expected: {found.stderr}")
    return [name for name in operators if name in names]


def main():
    symprof, text_to_onnx = sys.argv[1:]
    costs = subprocess.run([symprof, "ops"], capture_output=True, text=True, check=True).stdout
    with_cost = {line.split()[0] for line in costs.splitlines() if "::" in line}
    for domain, missing in (
            ("com.microsoft", without_rule(symprof, text_to_onnx, listed("com.microsoft"))),
            ("torchvision", [name for name in listed("torchvision") if name not in with_cost])):
        total = len(listed(domain))
        print(f"{domain}: {total - len(missing)} of {total} have a rule; " + (f"not {', '.join(missing)}" if missing else "all"))


if __name__ == "__main__":
    main()
