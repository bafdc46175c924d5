# An ensemble of models by stack_module_state and vmap
# packages: torch
# saved: torch.func
import copy, torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap
dev = "cuda" if torch.cuda.is_available() else "cpu"
models = [nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)).to(dev) for _ in range(5)]
params, buffers = stack_module_state(models)
base = copy.deepcopy(models[0]).to("meta")
opt = torch.optim.Adam(params.values())
for _ in range(4):
    x, y = torch.randn(16, 32, device=dev), torch.randint(0, 4, (16,), device=dev)
    out = vmap(lambda p, b: functional_call(base, (p, b), (x,)))(params, buffers)
    loss = nn.functional.cross_entropy(out.flatten(0, 1), y.repeat(5))
    opt.zero_grad()
    loss.backward()
    opt.step()
