# One rank of a pipeline: the first stage under a GPipe schedule of four micro-batches
# packages: torch
# expect: fwd_flops = 2*2*32*128*256
# expect: bwd_flops = 3*2*32*128*256
# expect: optimizer_bytes = 2*4*(2*128*256 + 256 + 128)
# arguments: --ranks 2
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
dev = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dist.init_process_group("nccl" if dev.type == "cuda" else "gloo")
first = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 128)).to(dev)
x = torch.randn(32, 128, device=dev)
stage = PipelineStage(first, 0, 2, dev, input_args=(x[:8],), output_args=(x[:8].clone().requires_grad_(),), output_grads=(x[:8],))
schedule = ScheduleGPipe(stage, 4, loss_fn=nn.functional.mse_loss)
opt = torch.optim.AdamW(first.parameters())
for _ in range(4):
    schedule.step(x)
    opt.step()
    opt.zero_grad()
