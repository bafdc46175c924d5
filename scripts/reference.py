#!/usr/bin/env python3
"""Writes the generated pages of docs/reference/ from the program's own tables: settings.md and columns.md from the help
of each command, devices.md from `symprof devices`, python_api.md from the package's signatures and docstrings, headers.md
from the first comment of each public header.

Without --write (or SYMPROF_REWRITE_GOLDEN=1) it compares, and exits with 1 where a page is not what would be written.

Usage: reference.py SYMPROF_BINARY [--write]"""
import ast
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "reference"
PACKAGE = ROOT / "python" / "symprof"
COMMANDS = ["profile", "fit", "plan checkpoint", "plan throughput", "plan parallel", "measure", "calibrate", "show", "stats", "dot",
            "inline", "partition", "strip", "fill", "optimize", "compare", "bisect", "dump", "restore", "engine", "memory", "devices", "ops"]
# What profiles a step, or shows its figures: these share most options.
STEP = ["profile", "fit", "plan checkpoint", "plan throughput", "plan parallel", "measure", "show", "dot"]
WRITTEN = "Written by `scripts/reference.py`; do not edit."
OPTION = re.compile(r"^  (-\S+(?: [A-Z][A-Z0-9,.:=_\[\]]*)?)(?: {2,}(.*))?$")


def output_of(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=True, cwd=ROOT).stdout


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def options_of(text):
    """Group, option and what it does, of a help text."""
    group, found = "", []
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            group = line[:-1]
        elif option := OPTION.match(line):
            found.append([group, option[1], option[2] or ""])
        elif line.startswith(" " * 20) and found and found[-1][0] == group:
            found[-1][2] += (" " if found[-1][2] else "") + line.strip()
    return found


def named(commands):
    """The commands, or short words for many of them."""
    if set(commands) == set(COMMANDS):
        return "all"
    others = [command for command in commands if command not in STEP]
    return ", ".join(["step", *others] if set(STEP) <= set(commands) else commands)


def settings(program):
    helps = {command: options_of(output_of(program, *command.split(), "--help")) for command in COMMANDS}
    groups = {}
    for command, options in helps.items():
        for group, option, meaning in options:
            groups.setdefault(group, {}).setdefault((option, meaning), []).append(command)
    page = ["# Settings", "", WRITTEN, "", "Every option of every command. Options that many commands share describe the step: the model's inputs, what runs,",
            "the update, memory, devices. Python takes the same names, with `_` for `-`: `symprof.profile(\"model.pt2\", clip_grad_norm=True)`.", "",
            f"*step* in the last column stands for {', '.join(STEP[:-1])} and {STEP[-1]}.", ""]
    for group, options in groups.items():
        page += [f"## {group}", "", "| option | what | commands |", "| --- | --- | --- |"]
        page += [f"| `{option}` | {cell(meaning)} | {named(commands)} |" for (option, meaning), commands in options.items()]
        page.append("")
    return page[:-1]


def columns(program):
    text = output_of(program, "profile", "--help")
    rows = text[text.index("\nColumns:\n") + 10:].split("\n\n")[0].splitlines()
    page = ["# Columns", "", WRITTEN, "", "What `--columns` and `--sort` of `symprof profile` take. [Figures](../concepts/figures.md) explains them.", "",
            "| column | what |", "| --- | --- |"]
    return page + [f"| `{name}` | {cell(meaning)} |" for name, meaning in (row.split(None, 1) for row in rows)]


def devices(program):
    page = ["# Devices", "", WRITTEN, "", "What `--device` knows by name. [Device files](device_files.md) says how to describe another one.", "",
            "| name | device | compute capability | SMs or threads | memory | bandwidth | bf16, dense | fp32 | source |",
            "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- |"]
    for device in json.loads(output_of(program, "devices", "--format", "json"))["devices"]:
        rates = device["flops_per_second"]
        rate = [f"{rates[dtype] / 1e12:,.1f} TFLOP/s" if rates.get(dtype) else "" for dtype in ("bfloat16", "float32")]
        page.append(f"| `{device['name']}` | {device['description']} | {device['compute_capability'] or 'CPU'} | {device['multiprocessors']} "
                    f"| {device['memory_bytes'] / 2**30:.2f} GiB | {device['memory_bytes_per_second'] / 1e12:.2f} TB/s | {rate[0]} | {rate[1]} "
                    f"| {cell(device['source'])} |")
    return page


def signature(function):
    arguments = ast.unparse(function.args).removeprefix("self, ").removeprefix("self")
    return f"({arguments})" + (f" -> {ast.unparse(function.returns)}" if function.returns else "")


def documented(name, node, level):
    """The section of a function or a class, with its public methods."""
    text = ast.get_docstring(node)
    is_class = isinstance(node, ast.ClassDef)
    members = [member for member in node.body if isinstance(member, ast.FunctionDef)] if is_class else []
    constructor = next((member for member in members if member.name == "__init__"), None)
    page = [f"{'#' * level} {name}", ""]
    if not is_class:
        page += ["```python", f"{name.split('.')[-1]}{signature(node)}", "```", ""]
    elif constructor is not None and name in {"Cost", "FitCallback"}:  # The others are what functions return.
        page += ["```python", f"{name}{signature(constructor)}", "```", ""]
    # An indented example is a block of code.
    page += [text, ""] if text else []
    for member in members:
        if member.name.startswith("_") or not ast.get_docstring(member):
            continue
        kinds = {ast.unparse(decorator) for decorator in member.decorator_list}
        head = f"`{member.name}`" if "property" in kinds else f"`{member.name}{signature(member)}`"
        page += [f"- {head}: {' '.join(ast.get_docstring(member).split())}"]
    return page + [""] if page[-1] else page


def definitions(path):
    return {node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def python_api(_):
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    homes = {alias.name: node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level for alias in node.names}
    names = next(ast.literal_eval(node.value) for node in tree.body
                 if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    page = ["# Python API", "", WRITTEN, "", "`import symprof` comes before `import torch`. [Python](../guide/python.md) introduces the package.", ""]
    for name in sorted(names, key=lambda name: (name[0].isupper(), name.lower())):
        page += documented(name, definitions(PACKAGE / f"{homes[name]}.py")[name], 2)
    for module in ("huggingface", "lightning", "pytest_plugin"):
        page += [f"## symprof.{module}", "", ast.get_docstring(ast.parse((PACKAGE / f"{module}.py").read_text())) or "", ""]
    return page[:-1]


def headers(_):
    page = ["# Public headers", "", WRITTEN, "", "What `make install` installs. [C++ API](cpp_api.md) introduces the library.", "", "| header | what |", "| --- | --- |"]
    for room in sorted(path for path in ROOT.iterdir() if path.is_dir() and path.name not in {"build", "tests", "examples"}):
        for header in sorted(room.rglob("*.h")) if not room.name.startswith(".") else []:
            comment = re.match(r"(?://[^\n]*\n)+", header.read_text())
            text = " ".join(line[2:].strip() for line in comment[0].splitlines()) if comment else ""
            if "Public header." in text:
                page.append(f"| `{header.relative_to(ROOT)}` | {cell(text.replace('Public header.', '').strip())} |")
    return page


def main():
    program = os.path.abspath(sys.argv[1])
    is_written = "--write" in sys.argv or os.environ.get("SYMPROF_REWRITE_GOLDEN") == "1"
    problems = []
    for write in (settings, columns, devices, python_api, headers):
        page = PAGES / f"{write.__name__}.md"
        text = "\n".join(write(program)) + "\n"
        old = page.read_text() if page.exists() else ""
        if is_written:
            page.write_text(text)
        elif text != old:
            problems += [f"{page.relative_to(ROOT)} is not what the program's tables say:",
                         *list(difflib.unified_diff(old.splitlines(), text.splitlines(), "page", "tables", lineterm="", n=0))[:12]]
    if problems:
        sys.exit("\n".join([*problems, "Rewrite with: SYMPROF_REWRITE_GOLDEN=1 ctest --test-dir build/release -R '^reference$'"]))


if __name__ == "__main__":
    main()
