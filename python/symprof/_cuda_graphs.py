"""CUDA graphs that a program captures itself: torch.cuda.CUDAGraph, which torch.cuda.graph and make_graphed_callables use. What is
captured takes its memory from a pool of the graph's and does not run; a replay runs the captured calls again on that memory."""
import weakref
from collections.abc import Callable
from typing import Any

import torch

from ._cuda import refused
from ._error import Error
from ._rhythm import Rhythm
from ._streams import set_stream, stream_ids

Pool = tuple[int, int]
_NOT_PERMITTED = ("CUDA error: operation not permitted when stream is capturing\n"
                  "symprof: a number is read from the device here, which PyTorch refuses within torch.cuda.graph.")


class Captures:
    """Of a simulation: its graphs, their pools, and the capture that goes on."""

    def __init__(self, program: Any, rhythm: Rhythm) -> None:
        self.program, self.rhythm = program, rhythm
        self.capturing: CUDAGraph | None = None
        self._pools: dict[Pool, int] = {}
        self._is_over = False

    def new_pool(self, is_users: bool) -> Pool:
        """PyTorch's ids: a pool that the program asks for has its number in the second place (c10::cuda::MemPool)."""
        number = len(self._pools) + 1
        pool = (0, number) if is_users else (number, 0)
        self._pools[pool] = number
        return pool

    def number_of(self, pool: Pool) -> int:
        if pool not in self._pools:
            raise Error(f"pool: found {pool!r}, wanted a handle of torch.cuda.graph_pool_handle() or CUDAGraph.pool() of this simulation.")
        return self._pools[pool]

    def is_capturing(self, *stream: Any) -> bool:
        return self.capturing is not None

    def set_stream(self, stream_id: int, device_index: int, device_type: int) -> None:
        """Another stream within a capture takes part in it: PyTorch asks that it waits for the first one."""
        if self.capturing is not None and stream_id >= 0:
            stream_id = self.program.stream_in_capture(stream_id)
        set_stream(stream_id, device_index, device_type)

    def refuse_reads(self) -> None:
        if self.capturing is not None:
            raise torch.AcceleratorError(_NOT_PERMITTED) if hasattr(torch, "AcceleratorError") else RuntimeError(_NOT_PERMITTED)

    def close(self) -> None:
        """Before the simulation ends: says what the pools take."""
        self._is_over = True
        held = self.program.memory().graph_pool_bytes
        if held:
            self.program.warn(f"CUDA graphs hold {held / 2**20:.0f} MiB in pools of their own, part of reserved memory; a replay's tensors in "
                              "it are not in torch.cuda.max_memory_allocated, nor in the peak here.")

    def release(self, number: int) -> None:
        if not self._is_over:
            self.program.release_capture(number)

    def answers(self) -> dict[tuple[Any, str], Any]:
        cuda, native = torch.cuda, torch._C
        graph: Any = type("CUDAGraph", (CUDAGraph,), {"captures": self})
        return {
            (cuda, "CUDAGraph"): graph,
            (cuda.graphs, "CUDAGraph"): graph,
            (cuda.graphs.graph, "default_capture_stream"): None,
            (cuda.graphs, "_graph_pool_handle"): lambda: self.new_pool(is_users=True),
            (cuda.graphs, "_cuda_isCurrentStreamCapturing"): self.is_capturing,
            (native, "_cuda_isCurrentStreamCapturing"): self.is_capturing,
            (native, "_host_emptyCache"): lambda: None,
            (native, "_cuda_setStream"): self.set_stream,
        }


class CUDAGraph:
    """torch.cuda.CUDAGraph."""

    captures: Captures

    def __init__(self, keep_graph: bool = False) -> None:
        self._number: int | None = None
        self._pool: Pool | None = None
        self._stream: tuple[int, int, int] | None = None
        self._seeds: list[torch.Tensor] = []
        self._events: list[Callable[[], None]] = []

    def capture_begin(self, pool: Pool | None = None, capture_error_mode: str = "global", check_input_liveness: bool = False) -> None:
        captures = self.captures
        if self._number is not None:
            raise RuntimeError("This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance.")
        now = stream_ids()
        if now[0] == 0:
            raise RuntimeError("CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them on the "
                               "default stream.)")
        if captures.capturing is not None:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")
        own = (pool[0], pool[1]) if pool else captures.new_pool(is_users=False)
        self._pool = own
        # The generator's, of each graph, on the default stream (ATen/cuda/CUDAGeneratorImpl.cpp).
        set_stream(0, *now[1:])
        self._seeds = [torch.empty(1, dtype=torch.int64, device="cuda") for _ in range(2)]
        self._stream = now
        set_stream(captures.program.begin_capture(captures.number_of(own), now[0]), *now[1:])
        captures.capturing, self._events = self, []
        captures.rhythm.note_into(self._events)

    def capture_end(self) -> None:
        captures = self.captures
        if captures.capturing is not self or self._stream is None:
            raise RuntimeError("capture_end() called before capture_begin().")
        captures.rhythm.note_into(None)
        captures.capturing = None
        number = self._number = captures.program.end_capture()
        set_stream(*self._stream)
        self._release = weakref.finalize(self, captures.release, number)
        self._release.atexit = False

    def instantiate(self) -> None: ...

    def replay(self) -> None:
        if self._number is None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        self.captures.program.replay(self._number)
        for event in self._events:
            event()

    def reset(self) -> None:
        if self._number is not None:
            self._number, self._seeds, self._events = None, [], []
            self._release()

    def pool(self) -> Pool:
        if self._number is None or self._pool is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self._pool

    def register_generator_state(self, state: Any) -> None: ...

    def enable_debug_mode(self) -> None: ...

    def debug_dump(self, debug_path: str) -> None: ...

    raw_cuda_graph = raw_cuda_graph_exec = get_graph_data = refused(
        "the nodes of a CUDA graph", "Nothing is captured but calls: leave it out.")
