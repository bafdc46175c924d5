"""`symprof run`: a training script, unmodified, on a GPU that is not there."""
import argparse
import pathlib
import runpy
import sys
import traceback
import types
from collections.abc import Sequence

from ._error import Error
from ._options import add_settings, add_table_options, report, settings_in
from ._profile import Profile
from ._simulate import Run, simulate


class EnoughSteps(BaseException):
    """The requested number of steps has run. No `except Exception` of the script catches it."""


class ScriptError(Exception):
    """The script's own exception, which Python would print and end with."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause

    def print(self) -> None:
        """As Python does for the script alone: its lines come first."""
        traceback.print_exception(self.cause.with_traceback(_of_script(self.cause.__traceback__)))


def _of_script(lines: types.TracebackType | None) -> types.TracebackType | None:
    """Without the lines that start the script: this package's, and runpy's."""
    first = lines
    while first is not None and first.tb_frame.f_globals.get("__name__") in (__name__, "runpy"):
        first = first.tb_next
    return first or lines


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="symprof run",
        description="Runs a Python script on a simulated GPU until it has made some training steps, and reports what "
        "the last one costs. Tensors on cuda have no storage; nothing is computed on them.",
    )
    add_settings(made, "run")
    made.add_argument("--eager", action="store_true", help="run eagerly what torch.compile compiles")
    made.add_argument("--no-cache", action="store_true", help="compile anew what an earlier run compiled, and keep nothing")
    made.add_argument("--steps", type=int, default=3, help="training steps before the script is stopped (default: 3)")
    made.add_argument("--step", type=int, default=None, metavar="N", help="report step N, counted from 1 (default: the last one)")
    made.add_argument("--between", action="store_true", help="report the passes without gradients before that step, which belong to no step: "
                      "evaluation, generation")
    made.add_argument("--all", action="store_true", help="let the script run to its end")
    made.add_argument("--ranks", type=int, default=None, help="number of ranks: the script runs as rank 0 of a simulated process "
                      "group (default: one process)")
    add_table_options(made, "module", 2)
    made.add_argument("--measured-memory", type=pathlib.Path, default=None, metavar="SNAPSHOT", help="a memory snapshot of the same "
                      "script on a GPU: its requests and peaks beside the predicted ones")
    made.add_argument("script", type=pathlib.Path, help="a Python script")
    made.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    try:
        profile = run_script(options)
        report(profile, options)
        fit = profile.fit()
        if not fit:
            print(f"\n{fit}", file=sys.stderr)
            return 1
    except Error as error:
        print("\n".join([f"symprof: {error}", *getattr(error, "__notes__", ())]), file=sys.stderr)
        return 2
    except ScriptError as error:
        error.print()
        return 1
    return 0


def run_script(options: argparse.Namespace) -> Profile:
    """The profile of the script's last step."""
    if options.measured_memory is not None and options.format not in ("table", "json"):
        raise Error(f"--measured-memory: --format {options.format} has no place for a measured history.\n"
                    "  Choose --format table or json.")
    if not options.script.is_file():
        raise Error(f"{options.script}: there is no such file.\n  Name a Python script.")
    run = simulate(name=options.script.name, ranks=options.ranks, eager=options.eager, no_cache=options.no_cache, **settings_in(options, "run"))
    run.report_step(options.step, options.between)
    if not options.all:
        run.stop_after(max(options.steps, options.step or 0), EnoughSteps)
    sys.argv = [str(options.script), *options.arguments]
    sys.path.insert(0, str(options.script.resolve().parent))
    try:
        with run:
            _run_to_its_end(options.script, run)
    except Error:
        raise
    except Exception as error:
        raise ScriptError(error) from error
    if run.steps == 0:
        print(f"symprof: {options.script}: no training step was found (no parameter was updated): the report is of all that ran.\n"
              "  symprof.step() at the end of a step marks it.", file=sys.stderr)
    return run.profile


def _run_to_its_end(script: pathlib.Path, run: Run) -> None:
    try:
        runpy.run_path(str(script), run_name="__main__")
    except EnoughSteps:
        pass
    except SystemExit as end:
        if end.code not in (None, 0):
            print(f"symprof: {script} ended with {end.code}", file=sys.stderr)
