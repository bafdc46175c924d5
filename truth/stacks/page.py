"""Writes docs/reference/stacks.md and run.json from what has run."""
import collections
import json
import pathlib
import subprocess

import header
import verdict

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "reference" / "stacks.md"
HEAD = """# Training scripts of many stacks

Each script of `truth/stacks/scripts/` is a small training program of one stack that people use. `make stacks` runs them all
under `symprof run`, and writes this page. A report is *right* where FLOPs of products (forward and backward), optimizer
states and saved bytes of the step are equal to the reference: the same script on the CPU under FlopCounterMode's formulas and
`saved_tensors_hooks` (`truth/stacks/reference.py`), or on PyTorch's CUDA build on a stub CUDA driver, whose allocator
is the real one (*peak*: allocated and reserved, ours less its own). Saved bytes are compared with the CUDA build's, whose
kernels keep other tensors than the CPU's; with the CPU's where the script does not run there, or where it reads values of data
(on a stub CUDA driver all are 0). Where neither run can be the reference, the script's first lines have the figure as a
formula (`expect`) and say why. Where sizes depend on values of data, a report has to be an upper bound and to say so. *Refused*
is one sentence that says what cannot be simulated. A difference with a known cause counts as right and has its cause in the
table.

"""


def versions_of(python: str) -> dict[str, str]:
    code = "import importlib.metadata as m, json; print(json.dumps({d.metadata['Name'].lower().replace('_', '-'): d.version for d in m.distributions()}))"
    return json.loads(subprocess.check_output([python, "-c", code], text=True))


def row(told: header.Header, found: dict, versions: dict[str, str]) -> str:
    packages = ", ".join(f"{name} {versions.get(name.replace('_', '-'), '–')}" for name in told.packages)
    why = found["why"].replace("|", "\\|")
    return f"| `{told.name}` | {told.title} | {packages} | {found['kind']}{': ' + why if why else ''} | {found['peak'] or '–'} | {found['seconds']:.0f} |\n"


def totals(found: dict[str, dict]) -> str:
    kinds = collections.Counter(one["kind"] for one in found.values())
    text = f"{len(found)} scripts: " + ", ".join(f"{kinds[kind]} {kind}" for kind in ("right", "wrong", "refused", "crash", "no reference") if kinds[kind])
    peaks = [one["peak"] for one in found.values() if one["peak"]]
    text += f".\nPeaks were compared for {len(peaks)} of them, and {peaks.count('equal')} are equal to the byte." if peaks else "."
    return text + f" The median command took {sorted(one['seconds'] for one in found.values())[len(found) // 2]:.0f} s of wall-clock time.\n\n"


def write(results: pathlib.Path, python: str) -> None:
    if not list(results.iterdir()):
        return
    versions = versions_of(python)
    found = {told.name: json.loads((results / f"{told.name}.json").read_text()) for told in header.scripts() if (results / f"{told.name}.json").exists()}
    rows = "".join(row(told, found[told.name], versions) for told in header.scripts() if told.name in found)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(HEAD + totals(found) + "| script | what | packages | verdict | peak | s |\n| --- | --- | --- | --- | --- | --- |\n" + rows)
    names = sorted({"torch", *(name.replace("_", "-") for told in header.scripts() for name in told.packages)})
    kept = {"versions": {name: versions[name] for name in names if name in versions}, "scripts": found}
    (HERE / "run.json").write_text(json.dumps(kept, indent=1) + "\n")
    unused = [name for name in verdict.causes() if not found.get(name, {}).get("why") and "(" not in found.get(name, {}).get("peak", "")]
    print(totals(found).strip(), *(f"causes.json names {name}, which has no difference" for name in unused), sep="\n")
