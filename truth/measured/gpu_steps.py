"""What a training step takes on a real GPU: peaks of PyTorch's allocator, the step's time by events, and how long the device
is busy (torch.profiler)."""
WARM_UP, STEPS, PROFILED = 4, 10, 2


def measured(step):
    """Of a function that runs one step: bytes and microseconds."""
    import torch

    for _ in range(WARM_UP):
        step()
    torch.cuda.reset_peak_memory_stats()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(STEPS + 1)]
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    torch.cuda.synchronize()
    row = {"peak_allocated_bytes": torch.cuda.max_memory_allocated(), "peak_reserved_bytes": torch.cuda.max_memory_reserved(),
           "step_us": [begin.elapsed_time(end) * 1e3 for begin, end in zip(events, events[1:])]}
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(PROFILED):
            step()
        torch.cuda.synchronize()
    busy = sum(event.device_time_total for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA)
    return {**row, "busy_us": busy / PROFILED}


def busy_by_operator(step):
    """Microseconds of the device in one step, by the innermost ATen call that asked for them."""
    import torch

    activities = torch.profiler.ProfilerActivity
    with torch.profiler.profile(activities=[activities.CPU, activities.CUDA]) as profile:
        step()
        torch.cuda.synchronize()
    found = {row.key: row.self_device_time_total for row in profile.key_averages() if row.device_type == torch.autograd.DeviceType.CPU}
    return {key: us for key, us in sorted(found.items(), key=lambda item: -item[1]) if us > 0}
