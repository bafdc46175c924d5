"""Reports to the recorder the information that only Python has: modules, backward, the update, and the purposes of tensors."""
import contextlib
import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from ._error import Error
from ._optimizers import label_of
from ._parts import elements_of, parts_of, tensors_in
from ._paths import inner_of, parameters_of, paths_of
from ._rhythm import Rhythm
from ._roots import name_of, whole_model

_OF_TORCHSCRIPT = "torch.jit: its operators run one by one here; a GPU fuses some of them, so that a step may take less time and save less."


class Observer:
    """Hooks of torch that report to `program` (symprof._native.Program). `rhythm` receives updates and passes."""

    def __init__(self, program: Any, rhythm: Rhythm) -> None:
        self.program = program
        self.rhythm = rhythm
        # By id. A model lives as long as the program holds it, and an id may be used again.
        self.modules: weakref.WeakValueDictionary[int, torch.nn.Module] = weakref.WeakValueDictionary()  # In models that ran.
        self.roots: weakref.WeakValueDictionary[int, torch.nn.Module] = weakref.WeakValueDictionary()  # That the program calls itself.
        self.places: dict[int, tuple[str, str]] = {}  # Path and type of each of `modules`.
        self.names: set[str] = set()  # Of models with parameters.
        self.optimizers: dict[int, str] = {}  # The program's names for them.
        self.depth = 0
        self.entered: list[str] = []  # Paths of the modules whose code runs.
        self.backward_depth = 0
        self.closures = 0  # That run.

    @classmethod
    def hooks(cls) -> list[Any]:
        """What torch calls of it."""
        return [cls.enter_module, cls.leave_module, cls.before_update, cls.after_update]

    def enter_module(self, module: torch.nn.Module, inputs: Any) -> None:
        is_pass = self.depth == 0 and self.backward_depth == 0 and torch.is_grad_enabled()
        place = self.places[id(module)] if self.is_known(module) else self.add_model(module)
        if self.depth == 0 and self.roots.get(id(module)) is not module:
            self.roots[id(module)] = module
            self.program_tensors(module)
        self.depth += 1
        self.entered.append(place[0])
        self.program.enter_module(*place)
        if is_pass and self.closures == 0:
            self.rhythm.pass_begins()

    def leave_module(self, module: torch.nn.Module, inputs: Any, output: Any) -> None:
        self.depth -= 1
        self.entered.pop()
        self.program.leave_module()

    def path(self) -> str:
        """Of the module whose code runs."""
        return self.entered[-1] if self.entered else ""

    def is_known(self, module: torch.nn.Module) -> bool:
        return self.modules.get(id(module)) is module

    def see(self, module: torch.nn.Module) -> None:
        """A module that compiled code calls."""
        if not self.is_known(module):
            self.add_model(module)
            self.roots[id(module)] = module
            self.program_tensors(module)

    def add_model(self, module: torch.nn.Module) -> tuple[str, str]:
        """Modules of a model with parameters get its name as a prefix: the native program removes it for a single model.
        Returns the index of this one."""
        model = whole_model(module)
        if any(isinstance(part, torch.jit.ScriptModule) for part in model.modules()):
            self.program.warn(_OF_TORCHSCRIPT)
        root = ""
        if next(model.parameters(), None) is not None:
            root = self._new_name(name_of(model))
            self.program.add_root(root)
        for part, path in paths_of(model):
            if not self.is_known(part):
                self.modules[id(part)] = part
                self.places[id(part)] = (f"{root}.{path}" if root and path else root or path, type(inner_of(part)).__qualname__)
        return self.places[id(module)]

    def _new_name(self, name: str) -> str:
        names = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
        found = next(name for name in names if name not in self.names)
        self.names.add(found)
        return found

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
        """Adds one entry of `optimizer.state`. Its key is a parameter, or a name for states of no parameter."""
        parameter = self.first_part(key) if isinstance(key, torch.Tensor) else None
        for state in tensors_in(states):
            for part in parts_of(state):
                self.program.add_optimizer_state(part, parameter)

    def first_part(self, parameter: torch.Tensor) -> torch.Tensor:
        """The part whose storage identifies the parameter."""
        return next(parts_of(parameter), parameter)

    def name_optimizer(self, label: str) -> None:
        """A report names the optimizers that the settings know; others are in the list of the step's optimizers alone."""
        with contextlib.suppress(Error):
            self.program.set("optimizer", label)

    def before_backward(self, makes_graph: bool) -> None:
        self.backward_depth += 1
        self.program.enter_backward(makes_graph)
        if self.backward_depth == 1 and self.closures == 0:
            self.rhythm.pass_begins()

    def after_backward(self) -> None:
        self.program.leave_backward()
        self.backward_depth -= 1
        for model in list(self.roots.values()):
            for parameter in parameters_of(model):
                self.add_gradient(parameter)
        if self.backward_depth == 0 and self.closures == 0:
            self.rhythm.backward_ended()

    def before_update(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments of `step`: the closure among them runs forward and backward, and is no update."""
        if id(optimizer) not in self.optimizers:
            self.optimizers[id(optimizer)] = name_of(optimizer)
            self._warn_of_host_memory(optimizer)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self.add_parameter(parameter)
                self.add_gradient(parameter)
        label = label_of(optimizer)
        self.name_optimizer(label)
        self.program.enter_optimizer(label, self.optimizers[id(optimizer)])
        return (tuple(self._closure(value) for value in args),
                {name: self._closure(value) for name, value in kwargs.items()})

    def _warn_of_host_memory(self, optimizer: torch.optim.Optimizer) -> None:
        """Figures are the device's: offloaded parameters and their update are in none of them."""
        sizes = [p.numel() for group in optimizer.param_groups for p in group["params"] if p.device.type == "cpu"]
        if sizes:
            self.program.warn(f"{self.optimizers[id(optimizer)]}: {len(sizes)} parameters ({sum(sizes):,} numbers) are in host memory; they, their "
                              "gradients, optimizer states and update are not included.")

    def _closure(self, value: Any) -> Any:
        if not callable(value) or isinstance(value, (torch.optim.Optimizer, torch.nn.Module, type)):
            return value

        @functools.wraps(value)
        def closure(*args: Any, **kwargs: Any) -> Any:
            self.closures += 1
            self.program.enter_closure()
            try:
                return value(*args, **kwargs)
            finally:
                self.program.leave_closure()
                self.closures -= 1

        return closure

    def after_update(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        for key, states in optimizer.state.items():
            self.add_states(key, states)
        self.program.leave_optimizer()
        self.rhythm.updated(id(optimizer), self.backward_depth > 0 or self.closures > 0)


@contextlib.contextmanager
def observed(program: Any, rhythm: Rhythm, is_innermost: Callable[[], bool]) -> Iterator[Observer]:
    """The hooks are there while the context is open, and rest where the simulation is not the innermost."""
    observer = Observer(program, rhythm)
    owners: tuple[Any, ...] = (torch.autograd, torch.autograd.graph)
    run_backward = owners[1]._engine_run_backward
    thread, is_compiling, is_tracing = threading.get_ident(), torch.compiler.is_compiling, torch._C._is_tracing

    def is_of_the_program() -> bool:
        """torch calls its hooks in every thread, and those of all simulations; calls of other threads or simulations are not
        the program's."""
        return threading.get_ident() == thread and is_innermost()

    def here(hook: Callable[..., Any]) -> Callable[..., Any]:
        """What torch.compile or torch.jit.trace run to see a graph is no pass."""
        return lambda *args: hook(*args) if not is_compiling() and not is_tracing() and is_of_the_program() else None

    def engine(outputs: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_of_the_program():
            return run_backward(outputs, *args, **kwargs)
        observer.before_backward(_makes_graph(*args, **kwargs))
        try:
            return run_backward(outputs, *args, **kwargs)
        finally:
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


def _makes_graph(grad_tensors: Any = None, keep_graph: bool = False, create_graph: bool = False, *args: Any, **kwargs: Any) -> bool:
    """Of the arguments of torch._C._EngineBase.run_backward (torch/csrc/autograd/python_engine.cpp)."""
    return create_graph
