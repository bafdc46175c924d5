# accelerate: prepare, accumulate, clip, bf16, gather of the loss
# packages: accelerate
import torch
from accelerate import Accelerator
from torch import nn
accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2)
model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 10))
opt = torch.optim.AdamW(model.parameters())
data = torch.utils.data.TensorDataset(torch.randn(128, 128), torch.randint(0, 10, (128,)))
model, opt, loader = accelerator.prepare(model, opt, torch.utils.data.DataLoader(data, batch_size=16))
for x, y in loader:
    with accelerator.accumulate(model):
        loss = nn.functional.cross_entropy(model(x), y)
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
    accelerator.gather(loss).mean().item()
