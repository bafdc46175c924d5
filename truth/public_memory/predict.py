#!/usr/bin/env python3
"""Predicts the memory of publicly measured runs: each row of a CSV is rebuilt and run on a simulated GPU.

Usage: predict.py --rows FILE.csv [-o PREDICTIONS.csv] [--libraries FOLDER] [--only ID…]

Rows have the columns of rows/*.csv. FOLDER has the packages of older rows (libraries.sh). Each row runs in a process of its own;
PREDICTIONS.csv has the figures of each, and why a row is left out. Rows that it has already are left as they are.
"""
import argparse
import contextlib
import csv
import importlib
import multiprocessing
import os
import pathlib
import sys
import time
import traceback
import warnings
from typing import Any

HERE = pathlib.Path(__file__).parent
# Name of a program, the figures that it is judged by: column of the measured row, what it is multiplied by, predicted figure.
FIGURES: dict[str, tuple[tuple[str, float, str], ...]] = {
    "peft_llm": (("reserved_avg_bytes", 1, "reserved_avg_bytes"), ("reserved_p99_bytes", 1, "reserved_p99_bytes"),
                 ("max_reserved_bytes", 1, "max_reserved_bytes")),
    "peft_image": (("reserved_avg_bytes", 1, "reserved_avg_bytes"), ("reserved_p99_bytes", 1, "reserved_p99_bytes"),
                   ("max_reserved_bytes", 1, "max_reserved_bytes")),
    "fms": (("peak_allocated_bytes", 1, "peak_allocated_bytes"), ("allocated_bytes", 1, "allocated_bytes")),
    "litgpt_runs": (("peak_gb", 1e9, "peak_allocated_bytes"),),
    "torchtune_runs": (("peak_active_gib", 2**30, "peak_allocated_bytes"),),
    "torchtitan": (("max_reserved_gib", 2**30, "peak_reserved_bytes"),),
}


# What all rows of a program import: once.
IMPORTED = {"peft_llm": ("peft_llm", "transformers.models.llama.modeling_llama", "peft"), "peft_image": ("peft_image", "diffusers", "peft")}


def program_of(row: dict[str, str]) -> str | None:
    source = row.get("source_repo", "")
    if source == "huggingface/peft":
        return "peft_llm" if "-llm-" in row["id"] else "peft_image"
    return {"foundation-model-stack/fms-acceleration": "fms", "Lightning-AI/litgpt": "litgpt_runs", "meta-pytorch/torchtune": "torchtune_runs",
            "pytorch/torchtitan": "torchtitan"}.get(source)


def predict_here(row: dict[str, str], libraries: str) -> dict[str, Any]:
    """In this process: the row's program, by its name."""
    name = program_of(row)
    if name is None:
        return {"left_out": f"no program for {row.get('source_repo')}"}
    program = importlib.import_module(name)
    try:
        found: dict[str, Any] = program.predict(row) if name.startswith("peft") else program.predict(row, libraries)
        return found
    except Exception as error:
        if type(error).__name__ == "CannotRebuild":
            return {"left_out": str(error)}
        if os.environ.get("PUBLIC_MEMORY_TRACEBACK"):
            traceback.print_exc()
        text = str(error).strip().splitlines() or [""]
        return {"left_out": f"{type(error).__name__}: {text[0]}"[:300]}


def _child(row: dict[str, str], libraries: str, end: Any) -> None:
    warnings.filterwarnings("ignore")
    end.send(predict_here(row, libraries))
    end.close()
    os._exit(0)  # Nothing is to be freed.


def predict(row: dict[str, str], libraries: str, limit: int) -> dict[str, Any]:
    """In a process of its own, which has what this one has imported."""
    start = time.monotonic()
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(row, libraries, there))
    child.start()
    there.close()
    try:
        found: dict[str, Any] = here.recv() if here.poll(limit) else {"left_out": f"took more than {limit} s"}
    except EOFError:
        child.join()
        found = {"left_out": f"the process ended with {child.exitcode}"}
    child.kill()
    child.join()
    return {**found, "wall_seconds": round(time.monotonic() - start, 1)}


def compared(row: dict[str, str], found: dict[str, Any]) -> list[dict[str, Any]]:
    """A line for each figure that the row has and the program predicts."""
    head = {key: row.get(key, "") for key in ("id", "family", "source_repo", "commit", "path", "model", "method")}
    if "left_out" in found:
        return [{**head, "figure": "", "left_out": found["left_out"]}]
    lines = []
    for column, unit, name in FIGURES[program_of(row) or ""]:
        if name not in found:
            continue
        measured = float(row[column]) * unit if row.get(column) else None
        error = None if measured is None else round(found[name] / measured - 1, 5)
        lines.append({**head, "figure": column, "measured_bytes": "" if measured is None else round(measured),
                      "predicted_bytes": round(found[name]), "error": "" if error is None else error,
                      "measured_verdict": row.get("oom") or row.get("verdict", ""), "predicted_fits": found.get("fits", ""),
                      "left_out": "", "seconds": found.get("wall_seconds", "")})
    return lines


COLUMNS = ("id", "family", "source_repo", "commit", "path", "model", "method", "figure", "measured_bytes", "predicted_bytes", "error",
           "measured_verdict", "predicted_fits", "left_out", "seconds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--libraries", default="build/public_memory")
    parser.add_argument("--only", nargs="*", default=[], metavar="ID")
    parser.add_argument("--limit", type=int, default=600, help="seconds for a row")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    importlib.import_module("symprof")  # Above torch.
    rows = [row for row in csv.DictReader(options.rows.open()) if not options.only or row["id"] in options.only]
    known = list(csv.DictReader(options.output.open())) if options.output and options.output.exists() else []
    done = {line["id"] for line in known if not line["left_out"]}
    lines: list[dict[str, Any]] = [line for line in known if line["id"] in done]
    rows = [row for row in rows if row["id"] not in done]
    for group in groups(rows):
        lines = predict_group(group, lines, options)


def groups(rows: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    """Rows of one program and one set of packages."""
    found: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows:
        program = program_of(row) or ""
        found.setdefault((program, row["libs"].partition(";")[0] if program == "fms" else ""), []).append(row)
    return list(found.values())


def predict_group(rows: list[dict[str, str]], lines: list[dict[str, Any]], options: argparse.Namespace) -> list[dict[str, Any]]:
    """In a process of its own, which imports what they need, and forks for each row."""
    here, there = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_predict_group, args=(rows, lines, options, there))
    child.start()
    there.close()
    try:
        while (done := here.recv()) is not None:
            lines = done
    except EOFError:
        print(f"{rows[0]['id']} …: the process ended", file=sys.stderr)
    child.join()
    return lines


def _predict_group(rows: list[dict[str, str]], lines: list[dict[str, Any]], options: argparse.Namespace, end: Any) -> None:
    name = program_of(rows[0]) or ""
    if name == "fms":
        with contextlib.suppress(Exception):  # Each row says what is missing.
            importlib.import_module("fms").import_libraries(rows[0], options.libraries)
    for module in IMPORTED.get(name, ()):
        importlib.import_module(module)
    for row in rows:
        found = compared(row, predict(row, options.libraries, options.limit))
        lines += found
        for line in found:
            print(line["id"], line["figure"], line.get("measured_bytes"), line.get("predicted_bytes"), line.get("error"),
                  line["left_out"], flush=True)
        if options.output:
            write(options.output, lines)
        end.send(lines)
    end.send(None)


def write(path: pathlib.Path, lines: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


if __name__ == "__main__":
    main()
