"""`python -m symprof`: `run`, `--compile` and code files in Python, every other verb in C++ (symprof_command)."""
import functools
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from symprof_command import names_code, run_program


def _as_command(run: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> NoReturn:
    """Reports and errors name settings as options: --context, not context=."""
    from . import _native, _process

    _native.spell_settings_as_options()
    _process.end(run(arguments))


def main() -> int:
    if sys.argv[1:2] == ["run"]:
        from ._run import main as run

        _as_command(run, sys.argv[2:])
    if "--compile" in sys.argv[2:]:
        from . import _compile_command

        if sys.argv[1] in _compile_command.VERBS:
            _as_command(functools.partial(_compile_command.main, sys.argv[1]), sys.argv[2:])
    if names_code(sys.argv[1:]):
        from . import _code_command

        return _code_command.main(sys.argv[2:])
    return run_program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
