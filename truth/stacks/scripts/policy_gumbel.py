# REINFORCE with torch.distributions, a straight-through Gumbel softmax, multinomial samples and entropy
# packages: torch
import torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
policy, value, mixer = nn.Linear(16, 4).to(dev), nn.Linear(16, 1).to(dev), nn.Linear(8, 16).to(dev)
opt = torch.optim.Adam([*policy.parameters(), *value.parameters(), *mixer.parameters()])
for _ in range(4):
    state = mixer(nn.functional.gumbel_softmax(torch.randn(64, 8, device=dev), hard=True))
    chosen = torch.distributions.Categorical(logits=policy(state))
    action = chosen.sample()
    reward = (action == torch.multinomial(torch.ones(64, 4, device=dev), 1).squeeze(1)).float()
    advantage = reward - value(state).squeeze(1)
    loss = -(chosen.log_prob(action) * advantage.detach()).mean() + advantage.square().mean() - 0.01 * chosen.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
