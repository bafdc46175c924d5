"""Tells the recorder what only Python knows: modules, backward, the update, and what tensors are for."""
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from ._error import Error
from ._parts import elements_of, parts_of, tensors_in
from ._paths import inner_of, paths_of


class Observer:
    """Hooks of torch that tell `program` (symprof._native.Program)."""

    def __init__(self, program: Any, step_ended: Callable[[], None]) -> None:
        self.program = program
        self.step_ended = step_ended
        self.paths: dict[int, str] = {}  # By id of a module that is in a model which ran.
        self.models: list[torch.nn.Module] = []  # Kept, so that no id is used again.
        self.roots: list[torch.nn.Module] = []  # Those that the program calls itself.
        self.depth = 0

    def enter_module(self, module: torch.nn.Module, inputs: Any) -> None:
        if id(module) not in self.paths:
            self.add_model(module)
        if self.depth == 0 and module not in self.roots:
            self.roots.append(module)
            self.program_tensors(module)
        self.depth += 1
        self.program.enter_module(self.paths[id(module)], type(inner_of(module)).__qualname__)

    def leave_module(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        self.depth -= 1
        self.program.leave_module()

    def add_model(self, model: torch.nn.Module) -> None:
        self.models.append(model)
        for module, path in paths_of(model):
            self.paths.setdefault(id(module), path)

    def program_tensors(self, model: torch.nn.Module) -> None:
        for parameter in model.parameters():
            self.add_parameter(parameter)
        for buffer in model.buffers():
            for part in parts_of(buffer):
                self.program.add_buffer(part)

    def add_parameter(self, parameter: torch.Tensor) -> None:
        self.program.add_parameter(parameter, list(parts_of(parameter)), elements_of(parameter))

    def add_gradient(self, parameter: torch.Tensor) -> None:
        if parameter.grad is not None:
            for part in parts_of(parameter.grad):
                self.program.add_gradient(part, self.first_part(parameter))

    def add_states(self, key: Any, states: Any) -> None:
        """Of one entry of `optimizer.state`. Its key is a parameter, or a name for what belongs to none."""
        parameter = self.first_part(key) if isinstance(key, torch.Tensor) else None
        for state in tensors_in(states):
            for part in parts_of(state):
                self.program.add_optimizer_state(part, parameter)

    def first_part(self, parameter: torch.Tensor) -> torch.Tensor:
        """The one whose storage stands for the parameter."""
        return next(parts_of(parameter), parameter)

    def name_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        """A report names the optimizers that the settings know; others are rows without a name."""
        with contextlib.suppress(Error):
            self.program.set("optimizer", type(optimizer).__name__.lower())

    def after_backward(self) -> None:
        for model in self.roots:
            for parameter in model.parameters():
                self.add_gradient(parameter)

    def before_update(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self.add_parameter(parameter)
                self.add_gradient(parameter)
        self.name_optimizer(optimizer)
        self.program.enter_optimizer()

    def after_update(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        for key, states in optimizer.state.items():
            self.add_states(key, states)
        self.program.leave_optimizer()
        self.step_ended()


@contextlib.contextmanager
def observed(program: Any, step_ended: Callable[[], None]) -> Iterator[Observer]:
    """The hooks are there while the context is open; `step_ended` is called after each update."""
    observer = Observer(program, step_ended)
    owners: tuple[Any, ...] = (torch.autograd, torch.autograd.graph)
    run_backward = owners[1]._engine_run_backward
    thread = threading.get_ident()

    def here(hook: Callable[..., None]) -> Callable[..., None]:
        """torch calls its hooks in every thread; what others run is none of the program."""

        def call(*args: Any) -> None:
            if threading.get_ident() == thread:
                hook(*args)

        return call

    def engine(*args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() != thread:
            return run_backward(*args, **kwargs)
        program.enter_backward()
        try:
            return run_backward(*args, **kwargs)
        finally:
            program.leave_backward()
            observer.after_backward()

    modules = torch.nn.modules.module
    handles: list[Any] = []
    try:
        handles.append(modules.register_module_forward_pre_hook(here(observer.enter_module)))
        handles.append(modules.register_module_forward_hook(here(observer.leave_module), always_call=True))
        handles.append(register_optimizer_step_pre_hook(here(observer.before_update)))
        handles.append(register_optimizer_step_post_hook(here(observer.after_update)))
        for owner in owners:
            owner._engine_run_backward = engine
        yield observer
    finally:
        for owner in owners:
            owner._engine_run_backward = run_backward
        for handle in handles:
            handle.remove()
