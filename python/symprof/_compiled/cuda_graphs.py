"""CUDA graphs of mode="reduce-overhead", as torch/_inductor/cudagraph_trees.py makes them: a function of compiled code runs once in
the graphs' own pool of memory, is recorded there when it is called in a later step, and from then on is replayed. A replay takes no
block: its tensors lie where they were recorded, PyTorch's counters do not see them, and the pool keeps what it reserved."""
import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from . import running

_weak_storage: Any = StorageWeakRef
_RECORDED, _REPLAYED = -1, -2  # Streams that stand for the pool (record/graph_pools.h).


class Graph:
    """Compiled code, of the forward or of the backward pass; called as cudagraph_trees' functions are."""

    def __init__(self, code: Callable[[Any], Any], static: Sequence[int], changed: Sequence[int], is_backward: bool, is_inference: bool) -> None:
        self.code, self.static, self.changed = code, frozenset(static), frozenset(changed)
        self.is_backward, self.is_forward = is_backward, not is_backward and not is_inference
        self.is_warm = self.is_recorded = False

    def __call__(self, inputs: list[Any]) -> Any:
        return running.compilers[-1].cuda_graphs.run(self, inputs)


class CudaGraphs:
    """All of a simulation, which share one pool."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self._generation: int | None = None
        self._is_warming_up = self._awaits_backward = self._has_pool = self._is_said = False
        self._seeds: list[torch.Tensor] = []
        self._managed: dict[int, Any] = {}  # Storages in the pool, by address of their implementation.

    def run(self, graph: Graph, inputs: list[Any]) -> Any:
        self._begin(graph)
        if any(not self._is_managed(inputs[place]) for place in graph.changed - graph.static):
            self._say_changed()
            return graph.code(inputs)
        given = {value.untyped_storage()._cdata for value in inputs if isinstance(value, torch.Tensor)}
        outputs = self._run(graph, inputs)
        made = [output.untyped_storage() for output in outputs if isinstance(output, torch.Tensor) and output.is_cuda]
        self._managed.update((storage._cdata, _weak_storage(storage)) for storage in made if storage._cdata not in given)
        if graph.is_forward:
            self._awaits_backward = True
        elif graph.is_backward:
            self._awaits_backward = False
        return outputs

    @property
    def current_node(self) -> "CudaGraphs":
        """torch._dynamo asks it whether an optimizer's tensor lies in the pool (variables/optimizer.py)."""
        return self

    def _is_cuda_graph_recorded_tensor(self, tensor: torch.Tensor) -> bool:
        return self._is_managed(tensor)

    def set_to_running_backward(self) -> None:
        """A backward pass that is no graph calls it (torch._inductor.output_code)."""
        self._awaits_backward = False

    def _say_changed(self) -> None:
        if not self._is_said:
            self._is_said = True
            self.program.warn("torch.compile: a function that writes into its inputs runs without CUDA graphs, as under PyTorch.")

    def _begin(self, graph: Graph) -> None:
        """A new step, where the program says so, or calls a compiled function again with no backward pass to come."""
        from torch._inductor.cudagraph_trees import CUDAGraphTreeManager, MarkStepBox

        generation = CUDAGraphTreeManager.get_curr_generation()
        if generation != self._generation and (MarkStepBox.mark_step_counter != 0 or not self._awaits_backward):
            self._is_warming_up = False
            self._managed = {key: storage for key, storage in self._managed.items() if not storage.expired()}
        self._generation = generation
        if not self._has_pool:
            self._has_pool = True
            self.program.empty_cache()  # An empty graph is recorded first.
            self._seeds = [torch.empty(1, dtype=torch.int64, device="cuda") for _ in range(2)]  # The generator's, for its graphs.

    def _run(self, graph: Graph, inputs: list[Any]) -> Any:
        """Whoever warms up makes all that follow in the step warm up."""
        if not graph.is_warm or self._is_warming_up:
            graph.is_warm = self._is_warming_up = True
            with _stream(_RECORDED):
                return graph.code(inputs)
        if graph.is_recorded:
            with _stream(_REPLAYED):
                self._copy_inputs(graph, inputs)
                return graph.code(inputs)
        graph.is_recorded = True
        with _stream(_RECORDED):
            self._copy_inputs(graph, inputs)
        self.program.empty_cache()  # torch.cuda.graph
        with _stream(_RECORDED):
            return graph.code(inputs)

    def _copy_inputs(self, graph: Graph, inputs: list[Any]) -> None:
        """Into tensors of the pool, but those that stay where they are."""
        places = [place for place, value in enumerate(inputs) if isinstance(value, torch.Tensor) and place not in graph.static
                  and value.is_cuda and not self._is_managed(value)]
        if not places:
            return
        given = [inputs[place] for place in places]
        own = [torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=value.device) for value in given]
        torch._foreach_copy_(own, given)
        for place, value in zip(places, own, strict=True):
            inputs[place] = value

    def _is_managed(self, value: Any) -> bool:
        found = self._managed.get(value.untyped_storage()._cdata)
        return found is not None and not found.expired()


@contextlib.contextmanager
def _stream(number: int) -> Iterator[None]:
    before = torch.accelerator.current_stream()
    torch.accelerator.set_stream(torch.Stream(stream_id=number, device_index=0, device_type=before.device_type))
    try:
        yield
    finally:
        torch.accelerator.set_stream(before)


def cudagraphify(model: Callable[[Any], Any], static_input_idxs: Sequence[int] = (), *, is_backward: bool, is_inference: bool,
                 mutated_input_idxs: Sequence[int] = (), **more: Any) -> Graph:
    """torch._inductor.compile_fx.cudagraphify"""
    return Graph(model, static_input_idxs, mutated_input_idxs, is_backward, is_inference)


def answers() -> dict[tuple[Any, str], Any]:
    from torch._inductor import compile_fx, cudagraph_trees

    def get_manager(device_index: int, create_if_none_exists: bool = True) -> Any:
        return running.compilers[-1].cuda_graphs

    return {(compile_fx, "cudagraphify"): cudagraphify, (cudagraph_trees, "get_manager"): get_manager}
