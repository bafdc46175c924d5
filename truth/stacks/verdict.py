"""What a report of `symprof run` is worth, beside the reference.

FLOPs of products, optimizer states and saved bytes have to be equal to a reference's. Where sizes depend on values (`bound` in the script's
header) the report has to be as large at least, and to say that it has upper bounds. causes.json has the differences whose
cause is known: kernels of the CPU that keep other tensors than CUDA's do.
"""
import dataclasses
import json
import pathlib
from typing import Any

import header

HERE = pathlib.Path(__file__).resolve().parent
COMPARED = ("fwd_flops", "bwd_flops", "optimizer_bytes", "saved_bytes")
FLOPS = ("fwd_flops", "bwd_flops", "optimizer_products")
PEAKS = ("peak_allocated_bytes", "peak_reserved_bytes")
WORDS = {"fwd_flops": "forward FLOPs", "bwd_flops": "backward FLOPs", "optimizer_bytes": "states", "saved_bytes": "saved bytes"}


@dataclasses.dataclass
class Verdict:
    """`kind`: right, wrong, refused, crash or no reference."""

    kind: str
    why: str = ""
    peak: str = ""
    figures: dict[str, Any] = dataclasses.field(default_factory=dict)


def causes() -> dict[str, dict[str, str]]:
    return json.loads((HERE / "causes.json").read_text())


def references() -> dict[str, Any]:
    return json.loads((HERE / "references.json").read_text())


def wanted(told: header.Header, kept: dict[str, Any]) -> list[tuple[str, dict[str, int | None]]]:
    """The steps that a report may be of, each with figures that belong together: FLOPs of one of the two references, states
    and saved bytes of the CUDA build where it ran. Where that run went another way, for it reads data and all are 0 on a GPU
    that computes nothing, they are the CPU's."""
    found = []
    for step in ("iteration", "update"):
        cpu, cuda = (kept.get(key, {}).get(step, {}) for key in ("cpu", "cuda"))
        reads_data = bool(told.bound) or any(cpu.get(key) != cuda[key] for key in FLOPS if key in cuda)
        on_device = {key: cuda[key] for key in ("saved_bytes", "optimizer_bytes") if key in cuda}
        sets = [{**cuda, **cpu, **on_device}, {**cpu, **cuda}, *([{**cuda, **cpu}] if reads_data else [])]
        for figures in sets:
            if told.saved:
                figures.pop("saved_bytes", None)
            if figures or (step == "iteration" and told.expect):
                found.append((step, {**{key: figures.get(key) for key in (*COMPARED, *PEAKS)}, "evaluation_flops": figures.get("evaluation_flops"),
                                     **(told.expect if step == "iteration" else {})}))
    return found


def differences(told: header.Header, ours: dict[str, Any], theirs: dict[str, int | None]) -> dict[str, str]:
    """By figure: what is wrong with it."""
    found = {}
    for key in COMPARED:
        mine, right = ours.get(key), theirs.get(key)
        if right is None or mine == right or (told.bound and mine is not None and mine >= right):
            continue
        if told.iterations and key == "optimizer_bytes":
            continue  # Without an optimizer's step there are none.
        found[key] = f"{WORDS[key]} {'unknown' if mine is None else f'{mine:,}'} instead of {right:,}"
    return found


def unequal(ours: dict[str, Any], theirs: dict[str, int | None]) -> int:
    """How many figures, also where an upper bound may be larger."""
    return sum(theirs.get(key) not in (None, ours[key]) for key in COMPARED)


def says_bounds(report: dict[str, Any]) -> bool:
    return any(node.get("upper_bound") for node in report["nodes"]) or any("bound" in w or "stand-in" in w for w in report["warnings"])


def peaks(ours: dict[str, Any], theirs: dict[str, int | None], reasons: dict[str, str]) -> str:
    """Beside the allocator of the CUDA build, where the script ran there."""
    if theirs.get("peak_reserved_bytes") is None:
        return ""
    parts = [f"{key.split('_')[1]} {ours[key] - theirs[key]:+,}" for key in PEAKS if ours[key] != theirs[key]]
    return "equal" if not parts else ", ".join(parts) + (f" ({reasons['peak']})" if "peak" in reasons else "")


def of_report(told: header.Header, report: dict[str, Any], kept: dict[str, Any]) -> Verdict:
    ours = {key: report["totals"].get(key) for key in (*COMPARED, *PEAKS)}
    ours["saved_bytes"] = report["totals"].get("saved_bytes_with_inputs")  # On the CPU, what comes from the host is like any other.
    reasons = causes().get(told.name, {})
    options = [(differences(told, ours, theirs), step, theirs) for step, theirs in wanted(told, kept)]
    if not options:
        return Verdict("no reference", kept.get("cpu", {}).get("refused", ""), "", ours)
    found, step, theirs = min(options, key=lambda option: (len(option[0]), unequal(ours, option[2])))
    wrong = [text for key, text in found.items() if key not in reasons]
    if evaluation := theirs.get("evaluation_flops"):
        wrong = [f"{text} ({evaluation:,} of evaluation)" for text in wrong]
    if told.bound and not wrong and not says_bounds(report) and unequal(ours, theirs):
        wrong = ["upper bounds without a word"]
    why = "; ".join(wrong or [f"{text}: {reasons[key]}" for key, text in found.items()])
    if step == "update" and not wrong:
        why = "; ".join(filter(None, [why, "of the third update"]))
    return Verdict("wrong" if wrong else "right", why, peaks(ours, theirs, reasons), ours)


def of_failure(code: int, errors: str) -> Verdict:
    """`symprof: …` alone is a refusal; a traceback is a crash, and so is a signal."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("symprof: ")]
    if code == 2 and said and "Traceback (most recent call last):" not in lines:
        return Verdict("refused", said[0].removeprefix("symprof: "))
    last = f"signal {-code}: {errors[-100:].strip()}" if code < 0 else lines[-1][:250] if lines else f"exit code {code}"
    return Verdict("crash", last)
