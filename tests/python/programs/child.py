"""Runs each program of a folder on the CPU and on the simulated device, and writes a line of JSON for each."""
import dataclasses
import json
import linecache
import os
import pathlib
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import symprof  # Before torch.

from children import RAN, Verdict
from figures import Figures
from same import first_difference

FOLDER = pathlib.Path(__file__).parent


def program_of(path: pathlib.Path) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["program"]


def _last_line(error: BaseException, path: pathlib.Path) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    line = f" at `{linecache.getline(str(path), frames[-1].lineno or 0).strip()}`" if frames else ""
    return f"{type(error).__name__}: {error}".split("\n")[0] + line


def verdict_of(path: pathlib.Path, ran: Callable[[], None]) -> Verdict:
    """`ran` is called when PyTorch has run it."""
    from reference import run_on_cpu
    from simulated import run_simulated

    try:
        right = run_on_cpu(program_of(path))
    except Exception as error:
        return Verdict("invalid", _last_line(error, path))
    ran()
    try:
        found = run_simulated(program_of(path), path.name)
    except symprof.Error as error:
        lines = str(error).strip().splitlines()
        return Verdict("refused" if len(lines) <= 2 else "crashed",
                       str(error) if len(lines) <= 2 else f"refused in {len(lines)} lines: {lines[0]}")
    except Exception as error:
        return Verdict("crashed", _last_line(error, path))
    return _compared(right, found, path.read_text())


def _compared(right: Figures, found: Figures, text: str) -> Verdict:
    difference = first_difference(right, found, text)
    if not difference:
        return Verdict("equal")
    reads_values = [warning for warning in found.warnings if "read unknown values of tensors" in warning]
    return Verdict("warned", f"{difference}; {reads_values[0]}") if reads_values else Verdict("wrong", difference)


def main(folder: str) -> None:
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What programs print is not said.
    warnings.filterwarnings("ignore")

    def say(what: Any) -> None:
        said.write(json.dumps(what) + "\n")
        said.flush()

    for path in sorted(pathlib.Path(folder).glob("program*.py")):
        say(dataclasses.asdict(verdict_of(path, lambda: say(RAN))))
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
