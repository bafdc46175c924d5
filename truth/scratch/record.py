#!/usr/bin/env python3
"""Writes calls.json: device memory that ATen calls take beside their outputs.

Usage: record.py PYTHON CUDA_INCLUDE [OUT]
       record.py PYTHON CUDA_INCLUDE --survey OUT     # PyTorch's operator database instead
       record.py PYTHON CUDA_INCLUDE --models OUT     # models of Transformers, which PYTHON has then

PYTHON has the CUDA build of PyTorch 2.13.0 from PyPI; CUDA_INCLUDE holds cuda_runtime_api.h of the
same CUDA. The calls run on the GPU that computes nothing of ../h200/fake_gpu.cpp: the host code of every
operator and the caching allocator are PyTorch's own, so the blocks asked for are real; values are not.
cases.py has the cases, ../README.md the fields.
"""
import json
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DEVICE_BYTES = 1 << 50
SECONDS_OF_CASE = 60
# What the host reads is 0, or a byte what a case chose for it (tensors.py).
ANSWERS = """#include <cstring>
extern "C" {
int answer_of_bytes = 0;
int cudaMemcpyAsync(void* to, const void*, size_t bytes, int kind, void*) {
  constexpr int device_to_host = 2;
  if (kind == device_to_host) std::memset(to, bytes == 1 ? answer_of_bytes : 0, bytes);
  return 0;
}
}
"""
OUT = HERE / "calls.json"


def start(python, include, *arguments):
    """Runs this file again under `python` with the fake GPU loaded."""
    sys.path.insert(0, str(HERE.parent / "h200"))
    import rehearse

    with tempfile.TemporaryDirectory() as folder:
        source, answers = (pathlib.Path(folder, name) for name in ("answers.cpp", "answers.so"))
        source.write_text(ANSWERS)
        rehearse.compile_library(source, answers)
        environment = rehearse.environment_on_fake_gpu(
            python, include, folder, [answers], FAKE_DEVICE_BYTES=str(DEVICE_BYTES), PYTORCH_NVML_BASED_CUDA_CHECK="1",
            SCRATCH_ON_FAKE_GPU="1", PYTHONWARNINGS="ignore")
        return subprocess.run([python, __file__, *arguments], env=environment).returncode


def tensor_text(tensor):
    """bfloat16[2,8] with the strides unless row-major, the storage offset unless 0: (1,2)+3."""
    text = f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"
    text += "" if tensor.is_contiguous() else str(tuple(tensor.stride())).replace(",)", ")")
    text += f"+{tensor.storage_offset()}" if tensor.storage_offset() else ""
    return text.replace(" ", "")


def argument_text(value):
    """A tensor or a list of them as text, integers as they are; what a recording lacks is null."""
    import torch

    if isinstance(value, torch.Tensor):
        return tensor_text(value) if value.is_cuda or value.dim() == 0 else f"@cpu{tensor_text(value)}"
    if isinstance(value, (list, tuple)):
        return [argument_text(element) for element in value]
    if isinstance(value, (bool, int)):
        return int(value)
    return None


class Recorder:
    """A dispatch mode that notes what the allocator did during each call."""

    def __new__(cls):
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode
        from torch.utils._pytree import tree_leaves

        class Mode(TorchDispatchMode):
            def __init__(self):
                super().__init__()
                self.rows = {}

            def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
                keywords = keywords or {}
                described = [argument_text(value) for value in in_schema_order(function, arguments, keywords)]
                history(True)
                before = {t.untyped_storage().data_ptr() for t in tree_leaves((arguments, keywords)) if is_on_device(t)}
                result = function(*arguments, **keywords)
                events = trace()
                outputs = [t for t in tree_leaves(result) if is_on_device(t)]
                made = {t.untyped_storage().data_ptr() for t in outputs} - before
                row = {"op": function._schema.name, "arguments": described,
                       "outputs": [tensor_text(t) for t in outputs], "memory": events_text(events, made)}
                if "@cpu" not in json.dumps(described):
                    self.rows.setdefault(json.dumps([row["op"], row["arguments"]]), row)
                return result

        def is_on_device(value):
            return isinstance(value, torch.Tensor) and value.is_cuda

        def history(enabled):
            torch.cuda.memory._record_memory_history(
                "all" if enabled else None, context=None, stacks="python", max_entries=10000, clear_history=True)

        def trace():
            traces = torch.cuda.memory._snapshot()["device_traces"]
            return [e for e in (traces[0] if traces else []) if e["action"] in ("alloc", "free_requested")]

        return Mode()


def in_schema_order(function, arguments, keywords):
    values = list(arguments)
    for argument in function._schema.arguments[len(arguments):]:
        values.append(keywords.get(argument.name, argument.default_value))
    return values


def events_text(events, made):
    """`=bytes`: an output, `+bytes`: another block, `-n`: block n given back, from 0."""
    text, blocks = [], {}
    freed_later = [e["addr"] for e in events if e["action"] == "free_requested"]
    for event in events:
        address = event["addr"]
        if event["action"] == "free_requested":
            freed_later.remove(address)
            if address in blocks:
                text.append(f"-{blocks.pop(address)}")
        elif address in made and address not in freed_later:
            text.append(f"={event['size']}")
        else:
            blocks[address] = sum(t[0] == "+" for t in text)
            text.append(f"+{event['size']}")
    return " ".join(text)


def warm_up():
    """Both threads' cuBLAS workspaces, which stay."""
    import torch

    x = torch.ones(8, 8, device="cuda", requires_grad=True)
    (x @ x).sum().backward()
    torch.cuda.empty_cache()


def rows_of(function):
    """Of one case, and what it failed with."""
    import torch

    recorder, failure = Recorder(), None
    try:
        with recorder:
            function()
    except Exception as error:
        failure = (str(error).splitlines() or [type(error).__name__])[0]
    torch.cuda.empty_cache()
    return recorder.rows, failure


def rows_of_child(function):
    """The same in a process of its own: the database of operators has cases that end it."""
    import torch

    # The fake GPU works after a fork too.
    torch.cuda._is_in_bad_fork = torch._C._cuda_isInBadFork = lambda: False
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS_OF_CASE)
        warm_up()
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(rows_of(function), pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    status = os.waitpid(child, 0)[1]
    return pickle.loads(answer) if answer else ({}, f"ended with status {status}")


def record(out, cases, run):
    """`cases` yields (name, function); what fails is told and left out."""
    import torch

    rows, failed = {}, []
    for name, function in cases:
        of_case, failure = run(function)
        for key, row in of_case.items():
            rows.setdefault(key, row)
        if failure:
            failed.append(f"{name}: {failure}")
    rows = sorted(rows.values(), key=lambda row: row["op"])
    header = {"torch": torch.__version__, "device": "h200"}
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in [header, *rows])
    pathlib.Path(out).write_text(f"[\n{lines}\n]\n")
    print(f"{len(rows)} calls, {sum('+' in row['memory'] for row in rows)} with scratch")
    print("\n".join(failed))


def main():
    if "SCRATCH_ON_FAKE_GPU" in os.environ:
        sys.modules["triton"] = None  # It wants the real driver; PyTorch does without.
        import cases

        if sys.argv[1] == "--survey":
            return record(sys.argv[-1], cases.survey(), rows_of_child)
        warm_up()
        if sys.argv[1] == "--models":
            import model_cases

            return record(sys.argv[-1], model_cases.models(), rows_of)
        return record(sys.argv[-1], cases.chosen(), rows_of)
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    python, include, *rest = sys.argv[1:]
    sys.exit(start(python, include, *(rest or [str(OUT)])))


if __name__ == "__main__":
    main()
