"""Compiled graphs of earlier runs, in the user's cache folder: what AOTAutograd and Inductor made of a graph that torch._dynamo
traced. PyTorch's own cache of them (torch/_functorch/_aot_autograd/autograd_cache.py) reads and writes the entries, forward and
backward code in one, by renaming whole files. Its key has the graph with its outputs, inputs, torch's version and settings;
here it has the device, the modules that rows are named by, and this package's code as well. Tracing is done anew."""
import hashlib
import os
import pathlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from . import graphs
from .running import compilers, original

MOST_BYTES = 256 << 20  # Of all entries; those written first go.
_ABANDONED = 3600.0  # Seconds: files that are half written by then are of a process that was ended.
_ON = {"enable_autograd_cache": True, "bundled_autograd_cache": True, "enable_remote_autograd_cache": False}
_OFF = {"enable_autograd_cache": False}


def user_folder() -> pathlib.Path:
    """As the XDG base directories are specified."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return (pathlib.Path(base) if os.path.isabs(base) else pathlib.Path.home() / ".cache") / "symprof" / "compiled"


def opened(device: Any, choices: tuple[str, ...]) -> "Cache | None":
    """None where the program, or who runs it, does without caches, or where there is no folder of the user's alone."""
    from torch._inductor import config

    if config.force_disable_caches:
        return None
    try:
        root = user_folder()
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = root.stat()
        if (hasattr(os, "getuid") and status.st_uid != os.getuid()) or status.st_mode & 0o022 or not os.access(root, os.W_OK):
            return None  # Entries are pickled: whoever may write there could run code here.
        return Cache(root, _digest(device, choices))
    except (OSError, RuntimeError):  # No home folder, or a full disk.
        return None


def _digest(device: Any, choices: tuple[str, ...]) -> str:
    """Of what PyTorch's key does not have."""
    found = hashlib.sha256(repr((torch.__version__, device, choices)).encode())
    package = pathlib.Path(__file__).resolve().parent
    for path in (*sorted(package.glob("*.py")), package.parent / "_flex_attention.py"):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


class Cache:
    def __init__(self, root: pathlib.Path, digest: str) -> None:
        self._root, self._folder = root, root / digest

    def answers(self) -> dict[tuple[Any, str], Any]:
        from torch._functorch._aot_autograd.autograd_cache import AOTAutogradCache, AOTAutogradCacheDetails
        from torch._inductor.output_code import CompiledFxGraph

        save, load = original(AOTAutogradCache, "save"), original(CompiledFxGraph, "after_deserialization")
        describe = original(AOTAutogradCacheDetails, "__init__")

        def init(details: Any, gm: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> None:
            describe(details, gm, *args, **kwargs)
            details.symprof = (list(_places(gm)), _attention_choices())

        return {
            (AOTAutogradCache, "_get_tmp_dir"): classmethod(lambda cls: str(self._folder)),
            (AOTAutogradCache, "save"): staticmethod(_unless_graphs_are_kept(save.__func__)),
            (AOTAutogradCacheDetails, "__init__"): init,
            (CompiledFxGraph, "after_deserialization"): graphs.running_loaded_code(load),
        }

    def close(self) -> None:
        """Keeps the cache small."""
        found = sorted(_files(self._root), key=lambda file: file[1], reverse=True)
        kept = 0
        for path, written, size in found:
            kept += size
            is_abandoned = path.name.startswith(".") and written < time.time() - _ABANDONED
            if kept > MOST_BYTES or is_abandoned:
                path.unlink(missing_ok=True)
                _remove_empty(path.parent, self._root)


def settings_of(cache: Cache | None) -> dict[str, bool]:
    """Of torch._functorch.config."""
    return _OFF if cache is None else _ON


def _files(root: pathlib.Path) -> Iterator[tuple[pathlib.Path, float, int]]:
    for folder, _, names in os.walk(root):
        for name in names:
            path = pathlib.Path(folder, name)
            try:
                status = path.stat()
            except OSError:  # Another process was faster.
                continue
            yield path, status.st_mtime, status.st_size


def _remove_empty(folder: pathlib.Path, root: pathlib.Path) -> None:
    while folder != root:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _unless_graphs_are_kept(save: Callable[..., Any]) -> Callable[..., Any]:
    """backward(retain_graph=True) compiles without donated buffers, which the key does not have."""

    def save_entry(*args: Any, **kwargs: Any) -> None:
        autograd: Any = torch._C
        is_backward = autograd._current_graph_task_id() != -1
        if not (is_backward and autograd._autograd._get_current_graph_task_keep_graph()):
            save(*args, **kwargs)

    return save_entry


def _places(graph: torch.fx.GraphModule) -> Iterator[str]:
    """The modules that the code's rows will be in."""
    compiler = compilers[-1]
    places = compiler.places()
    for node in graph.graph.nodes:
        stack = list(node.meta.get("nn_module_stack") or {})
        number = str(stack[-1]).partition("@")[0] if stack else ""
        place = places.get(int(number)) if number.isdigit() else None
        yield compiler.relative(place[0]) if place is not None else ""


def _attention_choices() -> tuple[bool, ...]:
    """Which kernels of attention the program allows: one is chosen while the graph is traced."""
    cuda: Any = torch.backends.cuda
    return cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled(), cuda.math_sdp_enabled(), cuda.cudnn_sdp_enabled()
