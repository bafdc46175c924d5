#!/usr/bin/env python3
"""Holds texts below cli/ free of the command line's spelling: a setting is referred to (base/setting.h), and whoever
prints the text writes it.

Prints every string literal with an option in it ("--set"), and every setting referred to that is neither in the table
of settings nor an option of a command; exit 1 if any."""
import re
import sys

from check_includes import ROOMS, root

TABLE = root / "session" / "setting_table.cpp"
# A comment, a raw string (a style sheet has names such as --ink; no sentence is one), a string, a character.
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"(?P<text>(?:\\.|[^"\\\n])*)"|'(?:\\.|[^'\\\n])+'""",
                   re.DOTALL)
OPTION = re.compile(r"(?<![\w-])--[a-z]")
REFERENCE = re.compile(r'(?:\bsetting\(|\bSettingRef(?:\s+\w+)?\{)\s*"([^"]*)"')


def files():
    rooms = {name.split("/")[0] for name in ROOMS} - {"cli"}
    for room in sorted(rooms):
        yield from sorted([*(root / room).rglob("*.h"), *(root / room).rglob("*.cpp")])


def options(path, code):
    """String literals that write a setting as the command line does."""
    for token in TOKEN.finditer(code):
        if token["text"] and OPTION.search(token["text"]):
            line = code.count("\n", 0, token.start()) + 1
            yield f'{path.relative_to(root)}:{line}: an option of the command line: {token[0]}'


def unknown_settings(path, code, known):
    for reference in REFERENCE.finditer(code):
        if reference[1] not in known:
            line = code.count("\n", 0, reference.start()) + 1
            yield f"{path.relative_to(root)}:{line}: there is no setting '{reference[1]}'"


def known_settings():
    names = set(re.findall(r'\{"(\w+)", \w+_group', TABLE.read_text()))
    for path in (root / "cli").glob("*.cpp"):
        names |= {option.replace("-", "_") for option in re.findall(r'"(?:-\w,)?--([a-z-]+)"', path.read_text())}
    return names


def main():
    known = known_settings()
    violations = []
    for path in files():
        code = path.read_text()
        violations += options(path, code)
        # Comments name settings as examples.
        violations += unknown_settings(path, re.sub(r"//[^\n]*", "", code), known)
    print("\n".join(violations) or f"no text below cli/ names an option; {len(known)} settings are known")
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main())
