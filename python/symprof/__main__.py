"""`python -m symprof`: `run`, `--compile` and code files in Python, every other verb in C++ (symprof_command)."""
import sys

from symprof_command import names_code, run_program


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
    if names_code(sys.argv[1:]):
        from . import _code_command

        return _code_command.main(sys.argv[2:])
    return run_program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
