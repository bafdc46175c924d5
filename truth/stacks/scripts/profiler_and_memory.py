# torch.profiler with a schedule, CUDA events, and torch.cuda's memory statistics read by the script
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)).to(dev)
opt = torch.optim.AdamW(model.parameters())
activities = [torch.profiler.ProfilerActivity.CPU, *([torch.profiler.ProfilerActivity.CUDA] if dev == "cuda" else [])]
if dev == "cuda":
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.memory._record_memory_history(max_entries=1000)
    before = torch.cuda.memory_allocated()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
with torch.profiler.profile(activities=activities, schedule=torch.profiler.schedule(wait=1, warmup=1, active=1), record_shapes=True) as prof:
    for step in range(4):
        if dev == "cuda":
            begin.record()
        with torch.profiler.record_function("step"):
            loss = model(torch.randn(32, 256, device=dev)).square().mean()
            loss.backward()
            opt.step()
            opt.zero_grad()
        if dev == "cuda":
            end.record()
            torch.cuda.synchronize()
            print(f"{begin.elapsed_time(end):.2f} ms, {torch.cuda.max_memory_allocated() / 2**20:.2f} MiB of {torch.cuda.get_device_properties(0).total_memory}")
            now = torch.cuda.memory_allocated()
            assert now == torch.cuda.memory_stats()["allocated_bytes.all.current"]
            assert torch.cuda.max_memory_allocated() >= now <= torch.cuda.memory_reserved()
            assert step == 0 or now == before, (now, before)  # A step leaves nothing behind.
            before = now
            free, total = torch.cuda.mem_get_info()
            assert 0 < free < total
        prof.step()
if dev == "cuda":
    torch.cuda.memory._record_memory_history(enabled=None)
    print(torch.cuda.memory_summary(abbreviated=True)[:80])
