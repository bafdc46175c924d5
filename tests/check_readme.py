#!/usr/bin/env python3
"""Runs the commands of README.md: every `$ symprof …` line of a ```console block. What stands below the
command is its output; a line "..." stands for any number of lines. --rewrite writes what was printed,
keeping the lines around each "...".

Usage: check_readme.py SYMPROF_BINARY [--rewrite]"""
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


def matches(expected, printed):
    """Whether `printed` is `expected` with every "..." line standing for some lines."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def rewritten(expected, printed):
    """As many lines of `printed` around each "..." as there were."""
    if "..." not in expected:
        return printed
    cut = expected.index("...")
    tail = len(expected) - cut - 1
    return printed[:cut] + ["..."] + (printed[-tail:] if tail else [])


def blocks(text):
    return re.finditer(r"```console\n(.*?)```", text, re.S)


def run(binary, command):
    words = shlex.split(command)
    assert words[0] == "symprof", command
    done = subprocess.run([binary, *words[1:]], cwd=ROOT, capture_output=True, text=True, env={"COLUMNS": "150"})
    if done.returncode:
        sys.exit(f"README.md: `{command}` exits with {done.returncode}:\n{done.stderr}")
    return done.stdout.splitlines()


def main():
    binary, rewrite = sys.argv[1], "--rewrite" in sys.argv
    text = README.read_text()
    count = 0
    for block in blocks(text):
        new = []
        for part in re.split(r"^(?=\$ )", block.group(1), flags=re.M):
            if not part.strip():
                continue
            command, *expected = part.rstrip("\n").split("\n")
            printed = run(binary, command.removeprefix("$ "))
            count += 1
            if expected and not rewrite and not matches(expected, printed):
                sys.exit(f"README.md shows something else than `{command}` prints now:\n" + "\n".join(printed))
            new += [command, *(rewritten(expected, printed) if expected else [])]
        if rewrite:
            text = text.replace(block.group(0), "```console\n" + "\n".join(new) + "\n```")
    if rewrite:
        README.write_text(text)
    if count == 0:
        sys.exit("README.md has no commands")
    print(f"{count} commands of README.md run")


if __name__ == "__main__":
    main()
