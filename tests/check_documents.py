#!/usr/bin/env python3
"""Runs the commands of README.md and docs/: every `$ symprof …` line of a ```console block. What stands below
the command is its output; a line "..." stands for any number of lines. A command that ends in a backslash goes on
in the next line. --rewrite writes what was printed, keeping as many lines around each "...".

Usage: check_documents.py SYMPROF_BINARY [--rewrite]"""
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ANSWER_IS_NO = 1  # The exit code of `symprof fit` where it does not fit.


def matches(expected, printed):
    """Whether `printed` is `expected` with every "..." line standing for some lines."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def rewritten(expected, printed):
    """As many lines of `printed` around each "..." as there were; a piece between two begins with its old word."""
    pieces = [[]]
    for line in expected:
        if line.strip() == "...":
            pieces.append([])
        else:
            pieces[-1].append(line)
    if len(pieces) == 1:
        return printed
    kept, at = printed[:len(pieces[0])], len(pieces[0])
    for piece in filter(None, pieces[1:-1]):
        word = piece[0].split(" ")[0]
        at = next((i for i in range(at, len(printed)) if printed[i].split(" ")[0] == word), at)
        kept += ["...", *printed[at:at + len(piece)]]
        at += len(piece)
    return kept + ["...", *printed[max(at, len(printed) - len(pieces[-1])):]]


def run(binary, command):
    words = shlex.split(command)
    assert words[0] == "symprof", command
    done = subprocess.run([binary, *words[1:]], cwd=ROOT, capture_output=True, text=True)
    if done.returncode and (words[1], done.returncode) != ("fit", ANSWER_IS_NO):
        sys.exit(f"`{command}` exits with {done.returncode}:\n{done.stderr}")
    return done.stdout.splitlines()


def check(binary, page, rewrite):
    """How many commands `page` has."""
    text = page.read_text()
    count = 0
    for block in re.finditer(r"```console\n(.*?)```", text, re.S):
        new = []
        for part in re.split(r"^(?=\$ )", block.group(1), flags=re.M):
            if not part.strip():
                continue
            lines = part.rstrip("\n").split("\n")
            end = next(i for i, line in enumerate(lines, 1) if not line.endswith("\\"))
            command, expected = "\n".join(lines[:end]), lines[end:]
            printed = run(binary, command.removeprefix("$ ").replace("\\\n", " "))
            count += 1
            if expected and not rewrite and not matches(expected, printed):
                sys.exit(f"{page.name} shows something else than `{command}` prints now:\n" + "\n".join(printed))
            new += [command, *(rewritten(expected, printed) if expected else [])]
        if rewrite:
            text = text.replace(block.group(0), "```console\n" + "\n".join(new) + "\n```")
    if rewrite:
        page.write_text(text)
    return count


def main():
    binary, rewrite = sys.argv[1], "--rewrite" in sys.argv
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    counts = {page.name: check(binary, page, rewrite) for page in pages}
    if counts["README.md"] == 0:
        sys.exit("README.md has no commands")
    print(", ".join(f"{count} of {name}" for name, count in counts.items() if count), "run")


if __name__ == "__main__":
    main()
