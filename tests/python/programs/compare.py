"""Random small programs under symprof against PyTorch on the CPU.

    python tests/python/programs/compare.py --seeds 0-1999          # all of them; a summary, and each wrong one's first figure
    python tests/python/programs/compare.py --seeds 17 --show       # one, with its text and all its figures
    python tests/python/programs/compare.py --seeds 17 --shrink     # the smallest program that is still wrong

A program is `equal`, `refused` (symprof.Error, in a sentence),
`warned` (it reads values of the device and the report says so), `wrong`,
`crashed` (any other exception, or the process ends), or `invalid` (PyTorch on the CPU refuses it as well).
"""
import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator

from children import Verdict, verdicts
from generate import Program, generate
from loops import LOOPS
from shrink import shrunk

ORDER = ("equal", "refused", "warned", "wrong", "crashed", "invalid")


def seeds_of(text: str) -> Iterator[int]:
    """`3,5,10-19`."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def kind_of(verdict: Verdict) -> str:
    """The sentence without its numbers and places."""
    return re.sub(r"\d+", "#", verdict.what.splitlines()[0] if verdict.what else "")


def summary(found: list[tuple[Program, Verdict]]) -> str:
    counts = Counter(verdict.state for _, verdict in found)
    lines = [f"{len(found)} programs: " + ", ".join(f"{counts[state]} {state}" for state in ORDER)]
    for state in ORDER[1:]:
        alike: dict[str, list[int]] = {}
        for program, verdict in found:
            if verdict.state == state:
                alike.setdefault(kind_of(verdict), []).append(program.seed)
        for kind, seeds in sorted(alike.items(), key=lambda item: -len(item[1])):
            first = ", ".join(map(str, seeds[:6])) + (", …" if len(seeds) > 6 else "")
            lines.append(f"{state:8} {len(seeds):4}  {kind[:200]}  (seeds {first})")
    return "\n".join(lines)


def by_loop(found: list[tuple[Program, Verdict]]) -> str:
    lines = [f"{'loop':24}" + "".join(f"{state:>9}" for state in ORDER)]
    for kind in LOOPS:
        counts = Counter(verdict.state for program, verdict in found if program.kind == kind)
        if counts:
            lines.append(f"{kind:24}" + "".join(f"{counts[state]:9}" for state in ORDER))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0-59", help="as 3,5,10-19 (default: 0-59)")
    parser.add_argument("--kinds", default="", help=f"loops, of {', '.join(LOOPS)} (default: all)")
    parser.add_argument("--show", action="store_true", help="print each program, and what is said of it")
    parser.add_argument("--shrink", action="store_true",
                        help="drop statements of each program that is wrong or crashes, while it stays so")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    options = parser.parse_args()
    kinds = tuple(options.kinds.split(",")) if options.kinds else ()
    programs = [generate(seed, kinds) for seed in seeds_of(options.seeds)]
    found = list(zip(programs, verdicts([program.text for program in programs], options.jobs), strict=True))
    for program, verdict in found:
        if options.show:
            print(program.text, verdict.state, verdict.what, "", sep="\n")
        if options.shrink and verdict.state in ("wrong", "crashed"):
            print(f"# Seed {program.seed}, {verdict.state}: {verdict.what}", shrunk(program.text, verdict), "", sep="\n")
        elif verdict.state == "wrong":
            print(f"seed {program.seed:4} ({program.kind}): {verdict.what}")
    print(summary(found), "", by_loop(found), sep="\n")
    return 1 if any(verdict.state in ("wrong", "crashed", "invalid") for _, verdict in found) else 0


if __name__ == "__main__":
    sys.exit(main())
