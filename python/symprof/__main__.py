"""`python -m symprof`: `run` and `--compile` in Python, every other verb in C++ (symprof_command)."""
import sys

from symprof_command import run_program


def main() -> int:
    if sys.argv[1:2] == ["run"]:
        from ._run import main as run

        return run(sys.argv[2:])
    if "--compile" in sys.argv[2:]:
        from . import _compile_command

        if sys.argv[1] in _compile_command.VERBS:
            return _compile_command.main(sys.argv[1], sys.argv[2:])
    return run_program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
