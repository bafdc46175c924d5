"""Streams and events of the simulated device.

Nothing runs, so nothing waits. But blocks of memory belong to the stream that they were made on, as they do on a GPU.
"""
from typing import Any

import torch


class Stream(torch.Stream):
    """torch.cuda.Stream: each has its own id, which the allocator uses."""

    def __new__(cls, device: Any = None, priority: int = 0, **ids: Any) -> "Stream":
        if ids:
            return super().__new__(cls, **ids)
        return super().__new__(cls, device="cuda:0", priority=priority)

    @property
    def cuda_stream(self) -> int:
        return self.stream_id

    def wait_event(self, event: Any) -> None: ...

    def wait_stream(self, stream: Any) -> None: ...

    def record_event(self, event: Any = None) -> Any:
        return event or Event()

    def query(self) -> bool:
        return True

    def synchronize(self) -> None: ...


class Event:
    """torch.cuda.Event: it has happened."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def record(self, stream: Any = None) -> None: ...

    def wait(self, stream: Any = None) -> None: ...

    def query(self) -> bool:
        return True

    def synchronize(self) -> None: ...

    def elapsed_time(self, end: "Event") -> float:
        """No time passes on a device that computes nothing; 1 ms keeps a program from dividing by zero."""
        return 1.0


def stream_ids(*device: Any) -> tuple[int, int, int]:
    """Stream id, device index and device type of the current stream, as torch._C gives them."""
    now = torch.accelerator.current_stream()
    return now.stream_id, now.device_index, now.device_type


def set_stream(stream_id: int, device_index: int, device_type: int) -> None:
    torch.accelerator.set_stream(torch.Stream(stream_id=stream_id, device_index=device_index, device_type=device_type))
