# A whole step captured as a CUDA graph and replayed, as PyTorch's documentation writes it
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 128)).to(dev)
opt = torch.optim.Adam(model.parameters(), capturable=dev == "cuda")
x = torch.randn(64, 128, device=dev)
def step():
    opt.zero_grad(set_to_none=True)
    model(x).square().mean().backward()
    opt.step()
if dev == "cuda":
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for _ in range(4):
        x.copy_(torch.randn(64, 128))
        graph.replay()
else:
    for _ in range(4):
        step()
