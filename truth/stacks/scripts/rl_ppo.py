# PPO: a rollout without gradients, then three epochs of updates on it
# packages: torch
# updates: 3
import torch
from torch import nn
from torch.distributions import Categorical
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi, self.v = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 4)), nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
    def forward(self, x):
        return Categorical(logits=self.pi(x)), self.v(x).squeeze(-1)
agent = Agent().to(dev)
opt = torch.optim.Adam(agent.parameters(), 3e-4, eps=1e-5)
for _ in range(4):
    with torch.no_grad():
        obs = torch.randn(128, 8, device=dev)
        pi, value = agent(obs)
        action = pi.sample()
        old, gain = pi.log_prob(action), torch.randn(128, device=dev)
    for _ in range(3):
        pi, value = agent(obs)
        ratio = (pi.log_prob(action) - old).exp()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() + 0.5 * (value - gain).square().mean() - 0.01 * pi.entropy().mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        opt.step()
