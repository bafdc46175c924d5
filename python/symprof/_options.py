"""Options of the commands that run in Python: settings, the table and its file."""
import argparse
import pathlib
import sys
from typing import Any

from . import _native
from ._profile import Profile


def add_settings(made: argparse.ArgumentParser, verb: str) -> None:
    """An option for each row of the table of settings that the verb obeys."""
    for setting, placeholder, meaning in _native.settings_of(verb):
        option, told = "--" + setting.replace("_", "-"), meaning.replace("%", "%%")
        if not placeholder:
            made.add_argument(option, action="store_true", help=told)
        else:
            made.add_argument(option, default=None, metavar=placeholder, help=told)


def settings_in(options: argparse.Namespace, verb: str) -> dict[str, Any]:
    """Those that are given."""
    given = {setting: getattr(options, setting) for setting, _, _ in _native.settings_of(verb)}
    return {setting: value for setting, value in given.items() if value}


def add_table_options(made: argparse.ArgumentParser, by: str, depth: int | None) -> None:
    """What a row is, and where the report goes; `by` and `depth` are the defaults."""
    made.add_argument("--by", choices=("node", "module", "op"), default=by, help=f"what a row is (default: {by})")
    made.add_argument("--depth", type=int, default=depth, help="fold modules deeper than N levels (default: "
                      f"{'none' if depth is None else depth})")
    made.add_argument("--columns", type=lambda names: names.split(","), default=[], metavar="NAMES", help="columns, as a list with commas "
                      "(`symprof profile --help` names them)")
    made.add_argument("--sort", default="", help="column to sort by, the largest first")
    made.add_argument("--top", type=int, default=None, help="rows to print; one more sums the others")
    made.add_argument("--format", choices=_native.formats_of_run(), default=_native.formats_of_run()[0])
    made.add_argument("-o", "--output", type=pathlib.Path, default=None, help="file for the report")


def report(profile: Profile, options: argparse.Namespace) -> None:
    rows = {"depth": options.depth if options.by == "module" else None, "sort": options.sort, "top": options.top,
            "columns": options.columns}
    history = getattr(options, "measured_memory", None)
    measured = None if history is None else profile.measured_memory(history)
    if options.format == "json":
        text = profile.json_beside(measured)
    elif options.format == "table":
        text = profile.table(options.by, width=None, **rows)
        if measured is not None:
            text += "\n" + measured.table()
    else:
        text = getattr(profile, options.format)(options.by, **rows)
    write(text, options.output)


def write(text: str, output: pathlib.Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text)
