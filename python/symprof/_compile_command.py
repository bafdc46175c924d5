"""`symprof profile`, `fit` and `plan throughput MODEL.pt2 --compile`: PyTorch's compiler is in Python."""
import argparse
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

from ._error import Error
from ._files import profile
from ._options import add_settings, add_table_options, report, settings_in, write

VERBS = ("profile", "fit", "plan")
_MEANINGS = {"profile": "What a step of an exported program costs under torch.compile.",
             "fit": "Whether a compiled step of an exported program fits into devices.",
             "plan throughput": "The batch with the most samples per second, of compiled steps of an exported program."}


def parser(verb: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog=f"symprof {verb}", description=_MEANINGS[verb])
    made.add_argument("--compile", action="store_true", help="run the program as torch.compile compiles it")
    made.add_argument("--set", action="append", default=[], metavar="NAME=SIZE", help="size of a dimension, batch=8 or seq=128; repeatable")
    made.add_argument("--loss", default=None, metavar="LOSS", help="ones (the default: gradients of the outputs are ones), sum or mean")
    add_settings(made, "profile_module")
    made.add_argument("--no-cache", action="store_true", help="compile anew what an earlier run compiled, and keep nothing")
    if verb == "profile":
        add_table_options(made, "node", None)
    elif verb == "fit":
        made.add_argument("--max", default="", metavar="NAME", help="the largest size of this dimension that fits")
    else:
        made.add_argument("--budget", default="", metavar="SIZE", help="memory of the process on each device (default: the device's)")
        made.add_argument("--format", choices=("table", "json"), default="table")
        made.add_argument("-o", "--output", type=pathlib.Path, default=None, help="file for the report")
    made.add_argument("model", type=pathlib.Path, help="a .pt2 file of torch.export.save")
    return made


def main(verb: str, arguments: Sequence[str]) -> int:
    if verb == "plan":
        verb, arguments = " ".join((verb, *arguments[:1])), arguments[1:]
    if verb not in _RUNS:
        print(f"symprof: {verb}: has no --compile: checkpoint plans and layouts change the exported graph.\n"
              "  symprof plan throughput has it.", file=sys.stderr)
        return 2
    options = parser(verb).parse_args(arguments)
    try:
        return _RUNS[verb](options)
    except Error as error:
        print(f"symprof: {error}", file=sys.stderr)
    except Exception as error:  # The program's own: a size that its export excludes, for example.
        print(f"symprof: {options.model}: the program does not run: {type(error).__name__}: {error}\n"
              "  --set gives sizes that its torch.export.Dim allow.", file=sys.stderr)
    return 2


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    if not options.model.is_file():
        raise Error(f"{options.model}: there is no such file.\n  Name a .pt2 file.")
    sizes = {}
    for entry in options.set:
        name, _, size = entry.partition("=")
        if not size.isdecimal():
            raise Error(f"--set: found '{entry}', wanted NAME=SIZE.\n  For example --set batch=8.")
        sizes[name] = int(size)
    return {**settings_in(options, "profile_module"), "loss": options.loss, "no_cache": options.no_cache, **sizes}


def _profiled(options: argparse.Namespace) -> int:
    report(profile(options.model, compile=True, **_settings(options)), options)
    return 0


def _fitted(options: argparse.Namespace) -> int:
    settings = _settings(options)
    devices = (settings.pop("device", None) or "h200").split(",")
    fit = profile(options.model, compile=True, device=devices[0], **settings).fit(*devices)
    print(fit)
    if options.max:
        largest = fit.largest(options.max)
        for device, size in (largest if isinstance(largest, dict) else {devices[0]: largest}).items():
            print(f"largest {options.max} on {device}: {'none' if size is None else size}")
    return 0 if fit else 1


def _planned(options: argparse.Namespace) -> int:
    settings = _settings(options)
    devices = (settings.pop("device", None) or "h200").split(",")
    plan = profile(options.model, compile=True, device=devices[0], **settings).plan_throughput(*devices, budget=options.budget)
    text = plan.json if options.format == "json" else f"{plan}"
    write(text, options.output)
    return 0 if plan else 1


_RUNS = {"profile": _profiled, "fit": _fitted, "plan throughput": _planned}
