"""Commands that compute with values, or change files: each runs the package's command in a child process."""
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from ._error import Error
from ._preload import built_folder, environment

COMMAND = built_folder() / "bin" / "symprof"
NO_IS_AN_ANSWER = (0, 1)
Path = str | os.PathLike[str]


class Said:
    """The result of a command. True if its exit code is 0; `data` is its JSON, `text` its other output."""

    def __init__(self, is_yes: bool, data: dict[str, Any], text: str) -> None:
        self._is_yes, self.data, self.text = is_yes, data, text

    def __bool__(self) -> bool:
        return self._is_yes

    def __repr__(self) -> str:
        return f"<{self.data.get('schema', 'symprof')}: {'yes' if self else 'no'}>"


def compare(a: Path, b: Path, *, inputs: Mapping[str, Any] | Path | None = None, **options: Any) -> Said:
    """Runs two models on the same inputs: which of their values match, and where they diverge. True if their outputs agree.
    Options are those of `symprof compare` (`tolerance=1e-4`, `set={"batch": 2}`, `random_weights=True`); `inputs` are arrays
    by name, or a file of numpy's. For changes in the costs use Profile.compare."""
    return _asked("compare", (a, b), inputs, {**options, "format": "json"})


def bisect(a: Path, b: Path, prefix: Path, *, inputs: Mapping[str, Any] | Path | None = None, **options: Any) -> Said:
    """Writes the smallest part of two ONNX models whose values still differ: `prefix`.a.onnx, .b.onnx, .a.npz and .b.npz.
    True if there is one; if outputs agree, nothing is written. Options are those of `symprof bisect`."""
    return _asked("bisect", (a, b), inputs, {**options, "output": prefix})


def dump(model: Path, file: Path, **options: Any) -> Said:
    """Writes the inputs and outputs of chosen modules and nodes of an ONNX model into one file: `module="layers.*"`. The
    options are those of `symprof dump`; `data` lists what was written."""
    return _asked("dump", (model,), None, {**options, "format": "json", "output": file})


def restore(file: Path, **options: Any) -> Said:
    """Lists a dump's contents, exports them (`**{"as": "npz", "output": "values.npz"}`), or replays them with another model
    (`replay="b.onnx"`): true if that model's outputs are those of the dump. Options are those of `symprof restore`."""
    return _asked("restore", (file,), None, {**options, "format": "json"})


def measure(model: Path, **options: Any) -> dict[str, Any]:
    """The step of a model file with random weights, run and timed where this program runs (`device="cuda"` for a GPU):
    the JSON of `symprof measure`, with its options (`steps=20`, `set={"batch": 8}`)."""
    return _asked("measure", (model,), None, {**options, "format": "json"}).data


def _asked(command: str, files: tuple[Path, ...], inputs: Any, options: dict[str, Any]) -> Said:
    if not COMMAND.exists():
        raise Error(f"{command}: the package was built without the command.\n  pip install symprof")
    with tempfile.TemporaryDirectory(prefix="symprof") as folder:
        words = [command, *(os.fspath(file) for file in files), *_words_of_inputs(inputs, folder), *_words(options)]
        done = subprocess.run([COMMAND, *words], env=environment(), capture_output=True, text=True, check=False)
    if done.returncode not in NO_IS_AN_ANSWER:
        raise Error(done.stderr.strip().removeprefix("symprof: ") or f"{command}: ended with {done.returncode}.")
    is_json = options.get("format") == "json" and done.stdout.lstrip().startswith("{")
    text = done.stderr if is_json else done.stdout + done.stderr
    return Said(done.returncode == 0, json.loads(done.stdout) if is_json else {}, text)


def _words(options: Mapping[str, Any]) -> Iterator[str]:
    """{"random_weights": True, "set": {"batch": 2}}: --random-weights --set batch=2"""
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            yield option
        elif isinstance(value, Mapping):
            yield from (word for key, entry in value.items() for word in (option, f"{key}={entry}"))
        elif isinstance(value, (list, tuple)):
            yield from (word for entry in value for word in (option, str(entry)))
        elif value is not None and value is not False:
            yield from (option, str(value))


def _words_of_inputs(inputs: Any, folder: str) -> Iterator[str]:
    if inputs is None:
        return
    if not isinstance(inputs, Mapping):
        yield from ("--inputs", os.fspath(inputs))
        return
    import numpy

    for i, (name, value) in enumerate(inputs.items()):
        if isinstance(value, (str, os.PathLike)):
            file = os.fspath(value)
        else:
            file = str(pathlib.Path(folder) / f"{i}.npy")
            numpy.save(file, numpy.asarray(value))
        yield from ("--inputs", f"{name}={file}")
