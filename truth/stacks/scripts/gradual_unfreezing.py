# A frozen body, layers unfrozen one at a time by add_param_group, the learning rate found by a test whose state is put back
# packages: torch
import copy, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
body = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.Mish()) for _ in range(4)]).to(dev)
head = nn.Linear(64, 5).to(dev)
body.requires_grad_(False)
opt = torch.optim.NAdam(head.parameters(), lr=1e-3)
def step():
    x, y = torch.randn(32, 64, device=dev), torch.randint(0, 5, (32,), device=dev)
    loss = nn.functional.multi_margin_loss(head(body(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.detach()
kept = copy.deepcopy(head.state_dict()), copy.deepcopy(opt.state_dict())
for exponent in (-5, -4):
    for group in opt.param_groups:
        group["lr"] = 10.0 ** exponent
    step()
head.load_state_dict(kept[0])
opt.load_state_dict(kept[1])
for layer in (3, 2):
    body[layer].requires_grad_(True)
    opt.add_param_group({"params": body[layer].parameters(), "lr": 1e-4})
for _ in range(4):
    step()
