#!/usr/bin/env python3
"""Checks README.md and the pages of docs/.

- Every `$ symprof …` line of a ```console block is run. What stands below the command is its output; a line "..."
  stands for any number of lines. A command that ends in a backslash goes on in the next line. --rewrite, or
  SYMPROF_REWRITE_GOLDEN=1, writes what was printed, keeping as many lines around each "...".
- Every relative link of the repository's Markdown files leads to a file, and to a heading in it; every page `docs/….md`
  that any file names is there.
- Pages keep within their limit of lines.

Usage: check_documents.py SYMPROF_BINARY [--rewrite] [PAGE …]
       check_documents.py --python PYTHON [--rewrite] [PAGE …]    the `symprof run` lines alone, by the Python package"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ANSWER_IS_NO = {"fit", "run", "compare"}  # They exit with 1 where the answer is no.
# Limits of lines: of a page, or of each page of a folder.
LIMITS = {"README.md": 160, "docs/README.md": 80, "docs/evaluation/README.md": 80, "docs/guide": 120, "docs/tutorial": 160}
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)")
PAGE = re.compile(r"(?<![\w/.-])docs/[a-z_]+(?:/[a-z_]+)*\.(?:md|svg)")


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


def run(program, command):
    words = shlex.split(command)
    assert words[0] == "symprof", command
    done = subprocess.run([*program, *words[1:]], cwd=ROOT, capture_output=True, text=True)
    is_no = done.returncode == 1 and words[1] in ANSWER_IS_NO and done.stdout
    if done.returncode and not is_no:
        sys.exit(f"`{command}` exits with {done.returncode}:\n{done.stderr}")
    return done.stdout.splitlines()


def check(program, is_asked, page, rewrite):
    """How many commands of `page` were run: those for which `is_asked`."""
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
            words = command.removeprefix("$ ").replace("\\\n", " ")
            if not is_asked(words):
                new += [command, *expected]
                continue
            printed = run(program, words)
            count += 1
            if expected and not rewrite and not matches(expected, printed):
                sys.exit(f"{page.name} shows something else than `{command}` prints now:\n" + "\n".join(printed))
            new += [command, *(rewritten(expected, printed) if expected else [])]
        if rewrite:
            text = text.replace(block.group(0), "```console\n" + "\n".join(new) + "\n```")
    if rewrite:
        page.write_text(text)
    return count


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    for heading in re.findall(r"^#+ (.+)$", text, re.M):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return found


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def broken_links():
    for page in (file for file in tracked_files() if file.suffix == ".md" and not file.name.endswith("head.md")):
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
        for target in LINK.findall(text):
            path, _, anchor = target.partition("#")
            if ":" in path:
                continue
            found = (page.parent / path).resolve() if path else page
            if not found.exists():
                yield f"{page.relative_to(ROOT)}: no file {target}"
            elif anchor and anchor not in anchors(found):
                yield f"{page.relative_to(ROOT)}: no heading {target}"


def missing_pages():
    for file in tracked_files():
        if file.suffix not in {".md", ".py", ".h", ".cpp", ".txt", ".pyi", ".cmake", ".sh", ".toml", ""}:
            continue
        for name in set(PAGE.findall(file.read_text(errors="replace"))):
            if not (ROOT / name).exists():
                yield f"{file.relative_to(ROOT)}: names {name}, which is not there"


def long_pages():
    for name, limit in LIMITS.items():
        for page in sorted((ROOT / name).glob("*.md")) if (ROOT / name).is_dir() else [ROOT / name]:
            lines = page.read_text().count("\n")
            if lines > limit:
                yield f"{page.relative_to(ROOT)}: {lines} lines; at most {limit}"


def main():
    rewrite = "--rewrite" in sys.argv or os.environ.get("SYMPROF_REWRITE_GOLDEN") == "1"
    by_python = sys.argv[1] == "--python"
    program = [sys.argv[2], "-W", "ignore", "-m", "symprof"] if by_python else [sys.argv[1]]
    named = [pathlib.Path(name).resolve() for name in sys.argv[2:] if name.endswith(".md")]
    pages = named or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    counts = {page.relative_to(ROOT): check(program, lambda words: words.startswith("symprof run") == by_python, page, rewrite)
              for page in pages}
    print(", ".join(f"{count} of {name}" for name, count in counts.items() if count), "run")
    problems = [] if by_python else [*broken_links(), *missing_pages(), *long_pages()]
    if problems or not any(counts.values()):
        sys.exit("\n".join(problems) or "no page has a command")


if __name__ == "__main__":
    main()
