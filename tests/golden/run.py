#!/usr/bin/env python3
"""Runs the command of every golden page, and compares what it prints with what the page says.

    run.py SYMPROF TEXT_TO_ONNX [PAGE ...]

SYMPROF_REWRITE_GOLDEN=1 writes the pages anew instead. README.md has the form of a page.
"""
import concurrent.futures
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REWRITE = os.environ.get("SYMPROF_REWRITE_GOLDEN") == "1"
LINE = "----\n"
BEGINNING = re.compile(r"the first (\d+) bytes of (\S+)")
WRONG_USAGE = 2  # From here on an exit code means that there is no answer, but an error.


class PageError(Exception):
    """A page, or what its command does, is not as README.md says."""


def read(page):
    """The command, the exit code, {file: how to make it}, and what is printed."""
    head, line, printed = page.read_bytes().decode().partition(LINE)
    if not line:
        raise PageError(f"no line {LINE.strip()}")
    keys, files, name = {"exit": "0"}, {}, None
    for text in head.splitlines(keepends=True):
        key = re.match(r"# (command|exit|file): (.*)\n", text)
        if key and key[1] == "file":
            name, _, source = key[2].partition(" = ")
            files[name] = source
        elif key:
            keys[key[1]] = key[2]
        elif name is None:
            raise PageError(f"belongs to no file: {text}")
        else:
            files[name] += text
    if "command" not in keys:
        raise PageError("no line '# command: symprof ...'")
    return keys, files, head + line, printed


def content(source):
    beginning = BEGINNING.fullmatch(source)
    return (ROOT / beginning[2]).read_bytes()[:int(beginning[1])] if beginning else source.encode()


def make(folder, name, source, text_to_onnx):
    if not name.endswith(".onnx"):
        (folder / name).write_bytes(content(source))
        return
    done = subprocess.run([text_to_onnx, folder / name], input=source, capture_output=True, text=True)
    if done.returncode:
        raise PageError(f"{name}: {done.stderr}")


def run(keys, files, symprof, text_to_onnx):
    """What the command prints, in a folder with its files and those of the source tree."""
    words = shlex.split(keys["command"])
    if words[:1] != ["symprof"]:
        raise PageError(f"not a command of symprof: {keys['command']}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "models").symlink_to(ROOT / "models")
        for file, source in files.items():
            make(folder, file, source, text_to_onnx)
        done = subprocess.run([symprof, *words[1:]], cwd=folder, capture_output=True, timeout=120)
    answer, silent = done.stdout.decode(), done.stderr.decode()
    if int(keys["exit"]) >= WRONG_USAGE:
        answer, silent = silent, answer
    if done.returncode != int(keys["exit"]) or silent:
        raise PageError(f"exit code {done.returncode}, wanted {keys['exit']}; also prints:\n{silent}")
    return answer


def check(page, symprof, text_to_onnx):
    """What is wrong with a page, or nothing."""
    try:
        keys, files, head, expected = read(page)
        printed = run(keys, files, symprof, text_to_onnx)
    except PageError as error:
        return f"{page}: {error}"
    if REWRITE:
        page.write_bytes((head + printed).encode())
        return ""
    return "".join(difflib.unified_diff(expected.splitlines(True), printed.splitlines(True), str(page), "now"))


def pages():
    """Those of commands: reports of a profile that is made by hand are tested where it is made."""
    found = sorted(HERE.glob("*/*.txt"))
    return [page for page in found if not page.read_text().startswith("# made of: ")]


def main():
    symprof, text_to_onnx, *names = sys.argv[1:]
    chosen = [pathlib.Path(name) for name in names] or pages()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = list(pool.map(lambda page: check(page, os.path.abspath(symprof), os.path.abspath(text_to_onnx)),
                              chosen))
    print("\n".join(filter(None, wrong)) or f"{len(chosen)} pages")
    return any(wrong)


if __name__ == "__main__":
    sys.exit(main())
