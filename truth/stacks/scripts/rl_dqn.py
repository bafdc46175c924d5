# DQN: a replay buffer on the host, a target network, an epsilon-greedy action a step
# packages: torch
import copy, random, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
q = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 3)).to(dev)
target = copy.deepcopy(q).requires_grad_(False)
opt = torch.optim.AdamW(q.parameters(), 1e-4, amsgrad=True)
memory = [(torch.randn(6), random.randrange(3), torch.randn(6), random.random()) for _ in range(64)]
for _ in range(4):
    batch = random.sample(memory, 32)
    s, n = (torch.stack([b[i] for b in batch]).to(dev) for i in (0, 2))
    a, r = torch.tensor([b[1] for b in batch], device=dev), torch.tensor([b[3] for b in batch], device=dev)
    with torch.no_grad():
        goal = r + 0.99 * target(n).max(1).values
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a[:, None]).squeeze(1), goal)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(q.parameters(), 100)
    opt.step()
    for t, p in zip(target.parameters(), q.parameters()):
        t.data.lerp_(p.data, 0.005)
