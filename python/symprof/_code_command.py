"""`symprof profile output_code.py --trust-code`: code that torch.compile wrote in another process. It runs in a child process."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from . import _process
from ._error import Error
from ._options import add_settings, add_table_options, report, settings_in


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="symprof profile", description="What a run of an output_code.py of torch.compile costs.")
    made.add_argument("--trust-code", action="store_true", help="run the file, which is code, in a child process")
    add_settings(made, "run")
    add_table_options(made, "node", None)
    made.add_argument("file", type=pathlib.Path, help="an output_code.py that torch.compile wrote")
    return made


def main(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    if not options.file.is_file():
        return _told(f"{options.file}: there is no such file.\n  Name an output_code.py that torch.compile wrote.")
    if not options.trust_code:
        return _told(f"{options.file}: is Python code, which would have to run here.\n  --trust-code runs it, in a child process; read it first.")
    words = [_absolute(word, options) for word in arguments]
    with tempfile.TemporaryDirectory(prefix="symprof_code") as folder:
        search = os.pathsep.join(os.path.abspath(entry) for entry in sys.path if entry)
        child = subprocess.Popen([sys.executable, "-m", "symprof._code_command", *words], cwd=folder, stdin=subprocess.DEVNULL,
                                 env={**os.environ, "PYTHONPATH": search})
        try:
            return child.wait()
        except KeyboardInterrupt:  # The terminal has interrupted the child, too.
            child.wait()
            raise


def _absolute(word: str, options: argparse.Namespace) -> str:
    """The child runs in a folder of its own."""
    files = [os.fspath(path) for path in (options.file, options.output) if path is not None]
    return os.path.abspath(word) if word in files else word


def _told(error: object) -> int:
    print(f"symprof: {error}", file=sys.stderr)
    return 2


def _in_child(arguments: Sequence[str]) -> int:
    from . import _native
    from ._simulate import simulate

    _native.spell_settings_as_options()

    options = parser().parse_args(arguments)
    try:
        run = simulate(name=options.file.name, **settings_in(options, "run"))
        with run:
            run._run_code_file(options.file)
        report(run.profile, options)
    except Error as error:
        return _told(error)
    except Exception as error:  # The file's own.
        return _told(f"{options.file}: the code does not run: {type(error).__name__}: {error}\n"
                     "  Profile it with the PyTorch that wrote it.")
    return 0


if __name__ == "__main__":
    _process.end(_in_child(sys.argv[1:]))
