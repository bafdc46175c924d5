"""What a call asks of the caching allocator: workspaces of libraries beside its results."""


def entries():
    import torch
    return torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]


def measured(call, device):
    """Sizes asked for in order, the peak beyond what was there, and what the results keep; null without a GPU."""
    import torch
    if device != "cuda":
        return dict.fromkeys(("requests", "transient_bytes", "kept_bytes"))
    torch.cuda.synchronize()
    torch.cuda.memory._record_memory_history("all", context=None, stacks="python")
    first = len(entries())
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    result = call()
    torch.cuda.synchronize()
    peak, after = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
    requests = [entry["size"] for entry in entries()[first:] if entry["action"] == "alloc"]
    torch.cuda.memory._record_memory_history(None)
    del result
    return {"requests": requests, "transient_bytes": peak - before, "kept_bytes": after - before}
