# Data parallelism by hand: weights are broadcast, gradients flattened, reduced and copied back, the loss gathered
# packages: torch
# arguments: --ranks 4
import torch, torch.distributed as dist
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
dist.init_process_group("nccl" if dev == "cuda" else "gloo")
rank, world = dist.get_rank(), dist.get_world_size()
if dev == "cuda":
    torch.cuda.set_device(rank % torch.cuda.device_count())
model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 16)).to(dev)
for tensor in model.state_dict().values():
    dist.broadcast(tensor, 0)
opt = torch.optim.NAdam(model.parameters())
for _ in range(4):
    x, y = torch.randn(16, 128, device=dev), torch.randint(0, 16, (16,), device=dev)
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    grads = [p.grad for p in model.parameters()]
    flat = torch._utils._flatten_dense_tensors(grads)
    work = dist.all_reduce(flat, async_op=True)
    work.wait()
    for grad, part in zip(grads, torch._utils._unflatten_dense_tensors(flat.div_(world), grads)):
        grad.copy_(part)
    opt.step()
    losses = [torch.zeros_like(loss.detach()) for _ in range(world)]
    dist.all_gather(losses, loss.detach())
    dist.barrier()
dist.destroy_process_group()
