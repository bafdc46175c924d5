# A debugging tool: hooks of tensors, modules and nodes, metadata of grad_fn, retain_grad
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64)).to(dev)
seen = []
model[0].register_full_backward_hook(lambda module, given, got: seen.append(got[0].shape))
model[2].register_forward_pre_hook(lambda module, given: (given[0] * 1.0,))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    out = model(torch.randn(32, 64, device=dev))
    out.retain_grad()
    out.register_hook(lambda grad: grad.clamp(-1, 1))
    loss = out.square().mean()
    loss.grad_fn.metadata["name"] = "loss"
    handle = loss.grad_fn.register_hook(lambda inputs, outputs: seen.append(loss.grad_fn.metadata["name"]))
    assert loss.grad_fn.next_functions[0][0].name() == "PowBackward0"
    loss.backward()
    handle.remove()
    assert out.grad.shape == out.shape
    opt.step()
    opt.zero_grad()
