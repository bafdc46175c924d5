# Layers in a Python list on two streams, an event between them, non-blocking copies
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128)).to(dev)
opt = torch.optim.Adam(model.parameters(), capturable=dev == "cuda")
host = [torch.randn(64, 128) for _ in range(4)]
stream = torch.cuda.Stream() if dev == "cuda" else None
for x in host:
    if stream:
        with torch.cuda.stream(stream):
            x = x.pin_memory().to(dev, non_blocking=True)
        torch.cuda.current_stream().wait_stream(stream)
        x.record_stream(torch.cuda.current_stream())
    model(x).square().mean().backward()
    opt.step()
    opt.zero_grad()
