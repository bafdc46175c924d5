"""DistributedDataParallel as torchrun starts it."""
import os

import torch
import torch.distributed as distributed
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    distributed.init_process_group("nccl")
    device = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(device)
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 512), nn.BatchNorm1d(512))
    model = DistributedDataParallel(model.cuda(), device_ids=[device])
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(5):
        loss = model(torch.randn(64, 1024).cuda()).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total = loss.detach().clone()
        distributed.all_reduce(total)
        if distributed.get_rank() == 0:
            print(f"{total.item() / distributed.get_world_size():.3f}")
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
