"""`python -m symprof` and the package's command `symprof`: `run` and `--compile` in Python, every other verb in C++."""
import os
import sys

from ._preload import built_folder, environment


def _ended(code: int) -> int:
    from . import _process

    _process.end(code)


def main() -> int:
    if sys.argv[1:2] == ["run"]:
        from ._run import main as run

        return _ended(run(sys.argv[2:]))
    if "--compile" in sys.argv[2:]:
        from . import _compile_command

        if sys.argv[1] in _compile_command.VERBS:
            return _ended(_compile_command.main(sys.argv[1], sys.argv[2:]))
    if sys.argv[1:2] == ["profile"] and sys.argv[2:]:
        from . import _code_command

        if _code_command.is_meant(sys.argv[2:]):
            return _code_command.main(sys.argv[2:])
    command = built_folder() / "bin" / "symprof"
    if not command.exists():
        print("symprof: the package was built without the command.\n  Install the wheel that `make wheel` builds (docs/guide/install.md).", file=sys.stderr)
        return 3
    os.execve(command, [str(command), *sys.argv[1:]], environment())


if __name__ == "__main__":
    sys.exit(main())
