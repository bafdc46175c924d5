#!/usr/bin/env python3
"""Writes assignments.json: what Python's own parser says of the lines that exports keep.

Usage: python truth/assignments/record.py      (the packages of requirements-models.txt)

Each distinct line of the stack traces in tests/zoo/models and models is looked up in the source
file that it comes from. `first`: the line begins its statement. `targets`: for each `=` the names,
"x[]" for an element of x, "" for what is computed; `returns`: it is a return statement.
"""
import ast
import json
import pathlib
import re
import site
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDERS = [ROOT, *map(pathlib.Path, site.getsitepackages())]
PLACE = re.compile(r'File "([^"]*)", line (\d+), in \w+\n    (.*)')


def traced_lines():
    found = {}
    for archive in sorted([*ROOT.glob("models/*.pt2"), *ROOT.glob("tests/zoo/models/*.pt2")]):
        with zipfile.ZipFile(archive) as records:
            for name in records.namelist():
                if "/models/" in name and name.endswith(".json"):
                    text = records.read(name).decode()
                    for trace in re.findall(r'"stack_trace": ("(?:[^"\\]|\\.)*")', text):
                        for file, line, code in PLACE.findall(json.loads(trace)):
                            found.setdefault(code, (file, int(line)))
    return found


def statement_at(tree, line):
    """The innermost statement around a line; None where it is the head of a block."""
    found = None
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno <= line <= node.end_lineno:
            if found is None or node.lineno >= found.lineno:
                found = node
    return found


def path(target):
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute) and path(target.value):
        return f"{path(target.value)}.{target.attr}"
    return ""


def names(target):
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for element in target.elts for name in names(element)]
    if isinstance(target, ast.Starred):
        return names(target.value)
    if isinstance(target, ast.Subscript) and path(target.value):
        return [path(target.value) + "[]"]
    return [path(target)]


def targets(statement):
    if isinstance(statement, ast.Assign):
        return [names(target) for target in statement.targets]
    if isinstance(statement, (ast.AugAssign, ast.AnnAssign)) and statement.value:
        return [names(statement.target)]
    return []


def main():
    trees, rows = {}, []
    for code, (file, line) in sorted(traced_lines().items()):
        source = next((f / file for f in FOLDERS if (f / file).is_file()), None)
        if source is None:
            continue
        if source not in trees:
            text = source.read_text()
            trees[source] = (ast.parse(text), text.splitlines())
        tree, lines = trees[source]
        if line > len(lines) or lines[line - 1].strip() != code.strip():
            continue  # another version of the package
        statement = statement_at(tree, line)
        rows.append({"line": code.strip(), "first": statement.lineno == line,
                     "targets": targets(statement),
                     "returns": isinstance(statement, ast.Return)})
    text = ",\n".join(" " + json.dumps(row) for row in rows)
    (HERE / "assignments.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
