"""What is done with one model of the zoo: a child process for each step, a JSON file each."""
import importlib.metadata
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "models"), str(ROOT / "truth")]

FIGURES = ("fwd_flops", "bwd_flops", "saved_bytes", "param_bytes", "buffer_bytes", "input_bytes")
PACKAGES = ("torch", "torchvision", "transformers", "diffusers", "torch_geometric", "onnx",
            "onnxscript")


def versions(packages):
    return {name: importlib.metadata.version(name).split("+")[0] for name in packages}


def first_line(error):
    """Of the error that was the cause of the others."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"


def build(name):
    from architectures import ARCHITECTURES, building

    return building.build_without_memory(ARCHITECTURES[name])


def profile(binary, path, mode):
    """The totals that symprof gives, or the first line of its error."""
    command = [binary, "profile", str(path), "--mode", mode, "--format", "json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"error": done.stderr.strip()[:600]}
    found = json.loads(done.stdout)
    totals = {figure: found["totals"][figure] for figure in FIGURES}
    return {**totals, "unmodelled": found["coverage"]["unmodelled"]}


def grouped_product_flops(a, b, *_, out_shape=None, **__):
    """Of aten::_grouped_mm, for which FlopCounterMode has no formula: each row meets one matrix."""
    return 2 * a[-2] * a[-1] * b[-1]


def grouped_gradients_flops(a, b, *_, out_shape=None, **__):
    """Of the backward operator of transformers: a product for each of the two gradients."""
    return 2 * grouped_product_flops(a, b)


def formulas():
    """Where FlopCounterMode has none, or a wrong one."""
    import measure
    import torch
    import transformers.integrations.moe  # noqa: F401 - defines its operators

    return {
        torch.ops.aten.convolution_backward: measure.convolution_backward_flops,
        torch.ops.aten._grouped_mm: grouped_product_flops,
        torch.ops.transformers.grouped_mm_fallback: grouped_product_flops,
        torch.ops.transformers.grouped_mm_fallback_backward: grouped_gradients_flops,
    }


def flops(module, inputs):
    import measure

    forward, backward = measure.flops_by_op(module, inputs, formulas())
    return {
        "fwd_flops": sum(forward.values()),
        "bwd_flops": sum(backward.values()),
        "fwd_flops_by_op": forward,
        "bwd_flops_by_op": backward,
    }


def flops_without_cudnn(name, mode):
    """FlopCounterMode has no formula for cuDNN's layers; on the CPU they are matrix products."""
    import torch

    from architectures import ARCHITECTURES, building

    module, inputs = building.build_with_memory(ARCHITECTURES[name])
    with torch.backends.mkldnn.flags(enabled=False):
        return flops(module.train(mode == "train"), inputs)


def moved_and_measured(name, mode, module, inputs):
    """On fake CUDA tensors."""
    import fake_models
    import measure
    from torch._subclasses.fake_tensor import FakeTensorMode

    mover = fake_models.Mover(None)
    with FakeTensorMode():
        mover.module(module)
        inputs = tuple(mover.tensor(x) for x in inputs)
        found = {**measure.static_sizes(module, inputs), **measure.saved(module, inputs)}
        if not has_recurrent_layer(name):
            found.update(flops(module, inputs))
    if has_recurrent_layer(name):
        found.update(flops_without_cudnn(name, mode))
    return found


def has_recurrent_layer(name):
    from architectures import ARCHITECTURES

    return ARCHITECTURES[name].source in ("torch.nn.LSTM", "torch.nn.GRU")


def truth_of_program(name, mode, program, inputs):
    import fake_models

    lifted = sum(constant.numel() * constant.element_size()
                 for key, constant in program.constants.items() if "lifted_tensor" in key)
    found = moved_and_measured(name, mode, fake_models.runnable(program), inputs)
    found["buffer_bytes"] += lifted  # Numbers of the code that export makes constants of the file.
    return found


def truth_of_other_program(name, mode):
    import pt2_file

    module, inputs = build(name)
    return truth_of_program(name, mode, pt2_file.export(module, inputs, mode), inputs)


def truth_of_module(name):
    module, inputs = build(name)
    return moved_and_measured(name, "train", module.train(), inputs)


def write_onnx(name, program, path):
    """Normalization stays: the optimizer would fold it into convolutions, for inference."""
    import onnx_file

    targets = " ".join(str(node.target) for node in program.graph.nodes)
    folds = "batch_norm" in targets or ("group_norm" in targets and "attention" not in targets)
    exported = onnx_file.by_dynamo(program, None, "none" if folds else "small")
    onnx_file.write(exported, path)


def write_pt(name, path):
    import pt_file
    from architectures import ARCHITECTURES, building

    module, inputs = building.build_with_memory(ARCHITECTURES[name])
    pt_file.write(pt_file.trace(module, inputs, "train"), path)


class Child:
    """Runs steps in children of this process, which has imported everything and exported once. `log`: where what a step
    prints goes, in place of this process's own outputs."""

    def __init__(self, name, folder, limit, packages=PACKAGES, log=None):
        self.name, self.folder, self.limit, self.packages, self.log = name, folder, limit, packages, log

    def result(self, stage):
        return self.folder / f"{self.name}.{stage}.json"

    def save(self, stage, found):
        text = json.dumps({**found, "versions": versions(self.packages)}, indent=1)
        self.result(stage).write_text(text + "\n")

    def fail(self, stage, why):
        self.save(stage, {"failed": why})
        self.say(stage)

    def say(self, stage):
        found = json.loads(self.result(stage).read_text())
        print(stage, self.name, found.get("failed", "ok"), found.get("seconds", ""), flush=True)

    def run(self, stage, step):
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            if status:
                over = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
                self.fail(stage, f"took more than {self.limit} s" if over else f"ended with status {status}")
            else:
                self.say(stage)
            return
        if self.log is not None:
            os.dup2(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
            os.dup2(2, 1)
        limit_processor_time(self.limit)
        start = time.process_time()
        found = attempt(step)
        self.save(stage, {**found, "seconds": round(time.process_time() - start, 1)})
        os._exit(0)


def limit_processor_time(seconds):
    """Of this process; wall time would depend on what else the machine does."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def attempt(step):
    """{"failed": the first line} if PyTorch cannot, else what `step` gives."""
    try:
        return step() or {}
    except Exception as error:  # whatever an exporter raises is the answer
        return {"failed": first_line(error)}


def run_exported(child, wanted):
    """What needs the exported program: it is made once."""
    import pt2_file

    name, folder = child.name, child.folder
    try:
        module, inputs = build(name)
        program = pt2_file.export(module, inputs, "train")
    except Exception as error:
        for stage in wanted:
            child.fail(stage, first_line(error))
        return
    if "pt2" in wanted:
        # Writing gives the program real example inputs, so it is done in a child too.
        child.run("pt2", lambda: pt2_file.write(program, folder / f"{name}.pt2", False))
    if "truth" in wanted:
        child.run("truth", lambda: truth_of_program(name, "train", program, inputs))
    if "onnx" in wanted:
        child.run("onnx", lambda: write_onnx(name, program, folder / f"{name}.onnx"))


def run(name, folder, wanted, limit):
    import warnings

    import fake_cuda

    fake_cuda.load()  # before torch
    warnings.filterwarnings("ignore")
    import zoo  # lets torchvision be imported without its compiled operators

    import architectures  # here, so that no child has to

    assert zoo.TORCHVISION_OPERATORS and architectures
    child = Child(name, folder, limit)
    if set(wanted) & {"pt2", "truth", "onnx"}:
        run_exported(child, wanted & {"pt2", "truth", "onnx"})
    if "pt" in wanted:
        child.run("pt", lambda: write_pt(name, folder / f"{name}.pt"))
    if "eval" in wanted:
        child.run("eval", lambda: truth_of_other_program(name, "eval"))
    if "module" in wanted:
        child.run("module", lambda: truth_of_module(name))


if __name__ == "__main__":
    run(sys.argv[1], pathlib.Path(sys.argv[2]), set(sys.argv[3].split(",")), int(sys.argv[4]))
