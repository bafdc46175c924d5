"""Runs a script on PyTorch itself, and writes what its steps cost.

Usage: python watched.py FOLDER SECONDS SCRIPT ...

FOLDER gets NAME.json of each script, and NAME.log. A script that takes longer than SECONDS is ended.

A script that fails in its first update, or later, has the saved bytes of the pass before it: on a GPU that computes nothing,
optimizers and sampling read zeros.

`dev` of the scripts is the CPU there, or CUDA where this PyTorch has a device. An update is what ends with the step of the
outermost optimizer. Products of an update are those of backward (of autograd's engine), of the optimizer (its step, without
a closure), of evaluation (a model that is trained, in evaluation mode, without gradients), and else of forward.
"""
import collections
import contextlib
import importlib
import json
import pathlib
import runpy
import sys
from typing import Any

import torch
import torch.utils.checkpoint
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

import counted
import forked
import group
import header
import kept

PHASES = ("fwd_flops", "bwd_flops", "optimizer_products", "evaluation_flops")


class Watch:
    def __init__(self, device: str) -> None:
        self.device, self.saved = device, kept.Saved()
        self.updates: list[dict[str, int]] = []
        self.before_first: dict[str, int] = {}
        self.trained: set[int] = set()
        self.optimizers: dict[int, torch.optim.Optimizer] = {}
        self.modules: list[bool] = []  # Of those that run now, whether it is an evaluation.
        self.engine = self.update = 0
        self.begin()

    def begin(self) -> None:
        self.flops = dict.fromkeys(PHASES, 0)
        self.saved.most = self.saved.now
        if self.device == "cuda":
            torch.cuda.reset_peak_memory_stats()

    def add(self, flops: int) -> None:
        phase = 2 if self.update else 1 if self.engine else 3 if any(self.modules) else 0
        self.flops[PHASES[phase]] += flops

    def enter_module(self, module: torch.nn.Module, inputs: Any) -> None:
        trained = False
        if not self.modules:
            parameters = list(module.parameters())
            self.saved.leave_out([*parameters, *module.buffers()])
            trained = any(id(p) in self.trained for p in parameters)
        self.modules.append(trained and not module.training and not torch.is_grad_enabled())

    def leave_module(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        self.modules.pop()

    def before_update(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> Any:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.trained.update(map(id, parameters))
        self.optimizers[id(optimizer)] = optimizer
        self.saved.leave_out(parameters)
        self.before_first = self.before_first or self.figures()
        self.update += 1
        args = tuple(self.closure(arg) if callable(arg) and not isinstance(arg, torch.optim.Optimizer) else arg for arg in args)
        return args, {key: self.closure(arg) if callable(arg) else arg for key, arg in kwargs.items()}

    def closure(self, call: Any) -> Any:
        def outside(*args: Any, **kwargs: Any) -> Any:
            depth, self.update = self.update, 0
            try:
                return call(*args, **kwargs)
            finally:
                self.update = depth

        return outside

    def after_update(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        self.update -= 1
        if self.update == 0:
            self.updates.append(self.figures())
            self.begin()

    def figures(self) -> dict[str, int]:
        found = {**self.flops, "saved_bytes": self.saved.most, "optimizer_bytes": self.state_bytes()}
        if self.device == "cuda" and torch.cuda.max_memory_reserved() < torch.cuda.get_device_properties(0).total_memory:
            found |= {"peak_allocated_bytes": torch.cuda.max_memory_allocated(), "peak_reserved_bytes": torch.cuda.max_memory_reserved()}
        return found  # On a stub driver, cuFFT and cuSOLVER ask for workspaces of any size.

    def state_bytes(self) -> int:
        """On CUDA those of the device. The CPU cannot tell what would lie on the host: the counters of steps, mostly."""
        states: dict[int, int] = {}
        for optimizer in self.optimizers.values():
            fused = any(group.get("fused") or group.get("capturable") for group in optimizer.param_groups)
            for of_one in optimizer.state.values():
                counters = self.device == "cpu" and not fused
                held = {key: value for key, value in of_one.items() if key != "step" or not counters} if isinstance(of_one, dict) else of_one
                states |= kept.storages_of(held, self.device)
        return sum(states.values())


def install(watch: Watch) -> None:
    owners: tuple[Any, ...] = (torch.autograd, torch.autograd.graph)
    run_backward = torch.autograd.graph._engine_run_backward

    def engine(*args: Any, **kwargs: Any) -> Any:
        watch.engine += 1
        try:
            return run_backward(*args, **kwargs)
        finally:
            watch.engine -= 1

    checkpoint = torch.utils.checkpoint.CheckpointFunction
    run_again = checkpoint.backward

    def again(*args: Any) -> Any:
        watch.saved.again += 1
        try:
            return run_again(*args)
        finally:
            watch.saved.again -= 1

    checkpoint.backward = staticmethod(again)
    for owner in owners:
        owner._engine_run_backward = engine
    modules = torch.nn.modules.module
    modules.register_module_forward_pre_hook(watch.enter_module)
    modules.register_module_forward_hook(watch.leave_module, always_call=True)
    register_optimizer_step_pre_hook(watch.before_update)
    register_optimizer_step_post_hook(watch.after_update)


def watch(out: pathlib.Path, script: pathlib.Path) -> int:
    """Hooks stay to the end of the process."""
    told = header.read(script)
    torch.manual_seed(0)
    torch.backends.mkldnn.enabled = False  # Recurrent layers then run their products one by one.
    torch.compiler.set_stance("force_eager")
    torch.backends.cuda.enable_cudnn_sdp(False)
    if told.ranks > 1:
        group.join(told.ranks)
    watched = Watch("cuda" if torch.cuda.is_available() else "cpu")
    install(watched)
    sys.argv, sys.path[0] = [str(script)], str(script.parent)
    hooks = torch.autograd.graph.saved_tensors_hooks(watched.saved.pack, watched.saved.unpack)
    found: dict[str, Any] = {"ended": ""}
    with counted.Counted(watched.add):
        if not told.saved:
            hooks.__enter__()
        try:
            runpy.run_path(str(script), run_name="__main__")
        except Exception as error:
            if not watched.before_first:
                raise
            found = {"ended": f"{type(error).__name__}: {error}".splitlines()[0], "saved_bytes": watched.before_first["saved_bytes"]}
    out.write_text(json.dumps({**found, "updates": watched.updates, "rest": watched.figures()}) + "\n")
    return 0


def import_what_several_need(scripts: list[str]) -> None:
    """Once, before the processes of the scripts begin."""
    needed = collections.Counter(name.replace("-", "_") for script in scripts for name in header.read(pathlib.Path(script)).packages)
    for name in [name for name, count in needed.items() if count > 1]:
        for module in (name, "transformers.trainer", "transformers.models.llama.modeling_llama") if name == "transformers" else (name,):
            with contextlib.suppress(ImportError):
                importlib.import_module(module)


if __name__ == "__main__":
    if torch.version.cuda is None:  # Some packages initialize CUDA, which does not survive a fork.
        import_what_several_need(sys.argv[3:])
    forked.each(sys.argv[1:], watch)
