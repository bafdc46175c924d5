#!/usr/bin/env python3
"""Writes lines.json: which statement of example.py each of its lines belongs to, as Python's own parser says.

Each row is [line, the first line of its statement, the function that it lies in, gradients (null: nothing says), whether
autocast is off]. What `with` statements mean is read off their syntax tree.
"""
import ast
import json
import pathlib
import tokenize

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE / "example.py"
MARKS = (tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING)


def called(item):
    return ast.unparse(item.context_expr)


def gradients(statement):
    texts = [called(item) for item in statement.items]
    if any(text.startswith(("torch.no_grad(", "torch.inference_mode(", "torch.set_grad_enabled(False")) for text in texts):
        return False
    return True if any(text.startswith("torch.enable_grad(") for text in texts) else None


def turns_autocast_off(statement):
    return any("autocast(" in called(item) and "enabled=False" in called(item) for item in statement.items)


def visit(statement, context, rows):
    """Rows of a statement and those inside of it; a later, inner one replaces an outer one."""
    function, gradient, off = context
    own = (function, gradient, off)
    is_function = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef))
    inside = own
    if is_function:
        inside = (statement.name, None, False)
    elif isinstance(statement, ast.With):
        found = gradients(statement)
        inside = (function, gradient if found is None else found, off or turns_autocast_off(statement))
    for line in range(statement.lineno, statement.end_lineno + 1):
        rows[line] = (statement.lineno, *own)
    for field in ("body", "orelse", "handlers", "finalbody"):
        for child in getattr(statement, field, []):
            if isinstance(child, ast.ExceptHandler):
                for inner in child.body:
                    visit(inner, inside, rows)
            elif isinstance(child, ast.stmt):
                visit(child, inside, rows)


def main():
    rows = {}
    for statement in ast.parse(EXAMPLE.read_text()).body:
        visit(statement, ("", None, False), rows)
    with EXAMPLE.open("rb") as file:
        lines = {line for token in tokenize.tokenize(file.readline) if token.type not in MARKS
                 for line in range(token.start[0], token.end[0] + 1)}
    heads = {"else:", "try:", "finally:"}
    text = EXAMPLE.read_text().splitlines()
    skipped = {n for n in lines if text[n - 1].strip() in heads or text[n - 1].strip().startswith(("except", "@"))}
    listed = [[line, *rows[line]] for line in sorted(lines - skipped)]
    (HERE / "lines.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in listed) + "\n]\n")


if __name__ == "__main__":
    main()
