"""Verbs that compute with the values of models, or write files: the commands of these names."""
import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from symprof_command import environment, part

from . import _native
from ._error import Error
from ._settings import setting_texts

Path = str | os.PathLike[str]
Question = TypeVar("Question")


class CommandResult:
    """The result of a command. True if its exit code is 0; `data` is its JSON, `text` its other output."""

    def __init__(self, is_yes: bool, data: dict[str, Any], text: str) -> None:
        self._is_yes, self.data, self.text = is_yes, data, text

    def __bool__(self) -> bool:
        return self._is_yes

    def __repr__(self) -> str:
        return f"<{self.data.get('schema', 'symprof')}: {'yes' if self else 'no'}>"


def compare(a: Path, b: Path, *, inputs: Mapping[str, Any] | Path | None = None, **options: Any) -> CommandResult:
    """Runs two models on the same inputs: which of their values match, and where they diverge. True if their outputs agree.
    Options are those of `symprof compare` (`tolerance=1e-4`, `set={"batch": 2}`, `random_weights=True`); `inputs` are arrays
    by name, or a file of numpy's. For changes in the costs use Profile.compare."""
    with _files_of(inputs) as files:
        return _said(_native.compare_models(_filled(_native.CompareQuestion(), a=a, b=b, inputs=files, **options)))


def bisect(a: Path, b: Path, prefix: Path, *, inputs: Mapping[str, Any] | Path | None = None, **options: Any) -> CommandResult:
    """Writes the smallest part of two ONNX models whose values still differ: `prefix`.a.onnx, .b.onnx, .a.npz and .b.npz.
    True if there is one; if outputs agree, nothing is written. Options are those of `symprof bisect`."""
    with _files_of(inputs) as files:
        question = _filled(_native.BisectQuestion(), a=a, b=b, inputs=files, **options)
        return _said(_native.bisect_models(question, os.fspath(prefix)))


def dump(model: Path, file: Path, **options: Any) -> CommandResult:
    """Writes the inputs and outputs of chosen modules and nodes of an ONNX model into one file: `module="layers.*"`. The
    options are those of `symprof dump`; `data` lists what was written."""
    return _said(_native.dump_calls(_filled(_native.DumpQuestion(), model=model, **options), os.fspath(file)))


def restore(file: Path, *, output: Path | None = None, **options: Any) -> CommandResult:
    """Lists a dump's contents, exports them (`**{"as": "npz", "output": "values.npz"}`), or replays them with another model
    (`replay="b.onnx"`): true if that model's outputs are those of the dump. Options are those of `symprof restore`."""
    form = options.pop("as", None)
    question = _filled(_native.ReplayQuestion(), **options)
    if form is not None:
        if output is None:
            raise Error(f"output: is missing for as={form}.\n  Name the file, or the new folder, that the tensors go to.")
        _native.export_dump(os.fspath(file), question.entry, form, os.fspath(output))
        return CommandResult(True, {}, "")
    if output is not None:
        raise Error(f"output: nothing is exported to {output}.\n  Name a form: **{{'as': 'npz'}}.")
    return _said(_native.restore_dump(os.fspath(file), question))


def measure(model: Path, *, device: str = "cpu", steps: int = 10, estimate: str = "", save: Path | None = None,
            **options: Any) -> dict[str, Any]:
    """The step of a model file with random weights, run and timed on this machine (`device="cuda"` for a GPU):
    the JSON of `symprof measure`, with its options (`steps=20`, `set={"batch": 8}`)."""
    if device != "cpu":
        return _measured_apart(model, {"device": device, "steps": steps, "estimate": estimate or None, "save": save, **options})
    sizes: Mapping[str, Any] = options.pop("set", {})
    settings = setting_texts({**options, "inputs": options.pop("input", None), **sizes})
    step = _native.measure_here(os.fspath(model), settings, steps, estimate)
    if save is not None:
        step.save(os.fspath(save))
    data: dict[str, Any] = json.loads(step.json())
    return data


def _said(answer: _native.Answer) -> CommandResult:
    return CommandResult(answer.is_yes, json.loads(answer.json) if answer.json else {}, answer.text)


def _filled(question: Question, **options: Any) -> Question:
    """Members of a question have the names of the command's options."""
    names = [name for name in dir(question) if not name.startswith("_")]
    for name, value in options.items():
        if name not in names:
            raise Error(f"{name}: is no option here; there are {', '.join(names)}.")
        if value is None:
            continue
        wanted = getattr(question, name)
        try:
            setattr(question, name, _as(wanted, value))
        except TypeError:
            raise Error(f"{name}: found {value!r}, wanted {type(wanted).__name__}.") from None
    return question


def _as(wanted: Any, value: Any) -> Any:
    """Options that may be given several times are lists of texts: {"batch": 2} is ["batch=2"]."""
    if isinstance(wanted, str):
        return str(value)
    if not isinstance(wanted, list):
        return value
    if isinstance(value, Mapping):
        return [f"{key}={entry}" for key, entry in value.items()]
    return [str(entry) for entry in value] if isinstance(value, (list, tuple)) else [str(value)]


@contextlib.contextmanager
def _files_of(inputs: Mapping[str, Any] | Path | None) -> Iterator[list[str]]:
    """Values of inputs as files of numpy's: "ids=/tmp/0.npy"."""
    if not isinstance(inputs, Mapping):
        yield [] if inputs is None else [os.fspath(inputs)]
        return
    import numpy

    with tempfile.TemporaryDirectory(prefix="symprof") as folder:
        texts = []
        for i, (name, value) in enumerate(inputs.items()):
            if isinstance(value, (str, os.PathLike)):
                file = os.fspath(value)
            else:
                file = str(pathlib.Path(folder) / f"{i}.npy")
                numpy.save(file, numpy.asarray(value))
            texts.append(f"{name}={file}")
        yield texts


def _measured_apart(model: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Runs the package's command: LibTorch's real CUDA and the simulated device cannot share a process."""
    command = part("bin/symprof")
    if command is None:
        raise Error("measure: the package was built without the command.\n  Install the wheel that `make wheel` builds (docs/guide/install.md).")
    words = ["measure", os.fspath(model), *_words(options), "--format", "json"]
    done = subprocess.run([command, *words], env=environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Error(done.stderr.strip().removeprefix("symprof: ") or f"measure: ended with {done.returncode}.")
    data: dict[str, Any] = json.loads(done.stdout)
    return data


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
