"""The command `symprof`: `run`, `--compile` and the profile of an output_code.py are Python, every other verb is C++.

It is no part of the package `symprof`, whose import loads LibTorch: most verbs need none, and run without torch."""
import importlib.util
import os
import pathlib
import sys


def folders(package: str) -> list[pathlib.Path]:
    """Where an installed package is, without importing it. One that is installed editable is in two folders."""
    spec = importlib.util.find_spec(package)
    return [pathlib.Path(folder) for folder in spec.submodule_search_locations or ()] if spec else []


def part(name: str) -> pathlib.Path | None:
    """A file of the package `symprof` that a build made."""
    return next((folder / name for folder in folders("symprof") if (folder / name).exists()), None)


def environment() -> dict[str, str]:
    """For the program. It looks for LibTorch in the folder that the package is in; torch may be in another
    (`--system-site-packages`, `--user`)."""
    torch = folders("torch")
    if not torch or any((folder.parent / "torch").exists() for folder in folders("symprof")):
        return dict(os.environ)
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(filter(None, (str(torch[0] / "lib"), os.environ.get("LD_LIBRARY_PATH", ""))))}


def run_program(arguments: list[str]) -> int:
    """Becomes the program; returns only where there is none."""
    program = part("bin/symprof")
    if program is None:
        print("symprof: the package was built without the command.\n  Install the wheel that `make wheel` builds (docs/guide/install.md).", file=sys.stderr)
        return 3
    os.execve(program, [str(program), *arguments], environment())


def names_code(arguments: list[str]) -> bool:
    """True for `profile output_code.py`."""
    return arguments[:1] == ["profile"] and any(word.endswith(".py") and not word.startswith("-") for word in arguments[1:])


def main() -> int:
    if sys.argv[1:2] != ["run"] and "--compile" not in sys.argv[2:] and not names_code(sys.argv[1:]):
        return run_program(sys.argv[1:])
    try:
        from symprof.__main__ import main as main_in_python
    except ValueError as error:  # symprof.Error: there is no torch, or another one.
        print(error, file=sys.stderr)
        return 3

    return main_in_python()
