#!/usr/bin/env python3
"""Holds limits that parts of the tree do not keep yet: tests/limits.json has what is left, and it only shrinks.

- files: lines of source files above 300;
- functions: lines of functions above 40, from the first line of the signature to the closing brace;
- text: lines outside of report/ and cli/ that write output (streams, format_to, printf, JSON);
- clocks: constants of one GPU (..._per_clock, clocks_of_...) in the code, which belong into devices/;
- words: private words by room, which have a word of the field (scripts/words.txt).

A number that grew, or one that is not listed, is an error; so is an entry that is not needed any more. `--rewrite`
writes today's numbers: in the diff of tests/limits.json they go down."""
import collections
import functools
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMITS = ROOT / "tests" / "limits.json"
PRODUCT = ("base", "record", "meta", "trace", "shape", "profile", "measure", "plan", "snapshot", "session", "engine", "report",
           "workbench", "cli", "python")
MOST_LINES, MOST_LINES_OF_FUNCTION = 300, 40
WRITES = re.compile(r"std::(cout|cerr|ostream|ostringstream)\b|fmt::(print|format_to)\(|\bf?printf\(|\bjson\.(member|key)\(")
CLOCKS = re.compile(r"\b(\w+_per_clock|clocks_of_\w+) = [0-9]")
# Where a function may begin: at the margin, or in a class of a namespace that is not indented.
BEGIN = re.compile(r"(?P<indent>(  )?)(?![ #/}]|namespace\b|public:|private:|protected:|using\b|typedef\b|friend\b|static_assert\b)\S")
NAME = re.compile(r"([\w:~]+|operator\S+)\(")


@functools.cache
def texts_of(room):
    found = {}
    for folder, _, names in os.walk(ROOT / room):
        for name in sorted(names):
            path = pathlib.Path(folder, name)
            if path.suffix in {".h", ".cpp", ".py", ".md"}:
                found[path.relative_to(ROOT).as_posix()] = path.read_text(errors="replace")
    return found


def files(rooms, endings):
    for room in rooms:
        for name, text in texts_of(room).items():
            if name.endswith(endings):
                yield name, text


def sources():
    return files(PRODUCT, (".h", ".cpp", ".py"))


def long_files():
    for name, text in sources():
        if (lines := text.count("\n")) > MOST_LINES:
            yield name, lines


def functions(text):
    """Name and lines of each function of clang-formatted code."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        begin = None if not lines[at] or lines[at].startswith(("   ", "}", "#", "//")) else BEGIN.match(lines[at])
        if not begin:
            at += 1
            continue
        indent, first, head = begin["indent"], at, lines[at]
        while not head.rstrip().endswith(("{", ";", "}", ":", ",")) or head.count("(") > head.count(")"):
            at += 1
            if at == len(lines) or at > first + 20:
                break
            head += " " + lines[at].strip()
        at += 1
        is_function = head.rstrip().endswith("{") and (name := NAME.search(head.split(" = ")[0])) and not re.match(
            r"\s*(class|struct|enum|union|extern|constexpr \w+ \w+\[\])\b", re.sub(r"template <[^{]*?> (?=class|struct)", "", head))
        if not is_function:
            continue
        for end in range(at, len(lines)):
            if lines[end].startswith((indent + "}", indent + "};")) and not lines[end].startswith(indent + "} else"):
                yield name[1], end - first + 1
                at = end + 1
                break


def long_functions():
    for name, text in files(PRODUCT, (".h", ".cpp")):
        for function, lines in functions(text):
            if lines > MOST_LINES_OF_FUNCTION:
                yield f"{name}: {function}", lines


def matches(pattern, skipped=()):
    for name, text in files(PRODUCT, (".h", ".cpp")):
        if name.startswith(skipped):
            continue
        code = re.sub(r"//.*", "", text)
        if count := len(pattern.findall(code)):
            yield name, count


def words():
    """By room and row of words.txt. Keys of JSON, which stand alone in quotes, stay as they are. Most files have none of the
    words: what every spelling begins with is looked for first."""
    rows = [line.split("  ", 1)[0] for line in (ROOT / "scripts" / "words.txt").read_text().splitlines()
            if line.strip() and not line.startswith("#")]
    patterns = [(row, re.compile(rf"\b(?<![`\"])(?:{row})\b(?![`\"])")) for row in rows]
    stems = {row: [re.sub(r"(\(es\)|s)\?$", "", spelling) for spelling in row.split("|")] for row in rows}
    found = collections.Counter()
    for name, text in files((*PRODUCT, "docs", "tests", "truth", "scripts", "examples", "benchmarks"),
                            (".h", ".cpp", ".py", ".md")):
        if name == "tests/check_limits.py":
            continue
        text = text.lower()
        for row, pattern in patterns:
            if any(stem in text for stem in stems[row]) and (count := len(pattern.findall(text))):
                found[f"{name.split('/')[0]}: {row}"] += count
    return sorted(found.items())


def now():
    return {"files": dict(long_files()), "functions": dict(long_functions()),
            "text": dict(matches(WRITES, ("report/", "cli/"))), "clocks": dict(matches(CLOCKS)), "words": dict(words())}


def main():
    found = now()
    if "--rewrite" in sys.argv:
        LIMITS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        return 0
    wrong = []
    for kind, limits in json.loads(LIMITS.read_text()).items():
        for name in sorted(limits.keys() | found[kind].keys()):
            limit, count = limits.get(name, 0), found[kind].get(name, 0)
            if count > limit:
                wrong.append(f"{kind}: {name}: {count}" + (f", at most {limit}" if limit else ", none is allowed here"))
            elif limit and not count:
                wrong.append(f"{kind}: {name}: kept now; tests/check_limits.py --rewrite takes it off the list")
    print("\n".join(wrong) or ", ".join(f"{len(limits)} {kind}" for kind, limits in found.items()) + " left")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
