# Validation between steps, accuracy, early stopping, the best state saved with torch.save
# packages: torch
import io, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(32, 128), nn.Dropout(0.1), nn.ReLU(), nn.Linear(128, 5)).to(dev)
opt = torch.optim.Adam(model.parameters())
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)
best = float("inf")
for _ in range(4):
    model.train()
    loss = nn.functional.cross_entropy(model(torch.randn(32, 32, device=dev)), torch.randint(0, 5, (32,), device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        x, y = torch.randn(64, 32, device=dev), torch.randint(0, 5, (64,), device=dev)
        out = model(x)
        error, right = nn.functional.cross_entropy(out, y).item(), (out.argmax(1) == y).sum().item()
    schedule.step(error)
    if error < best:
        best = error
        torch.save({"model": model.state_dict(), "opt": opt.state_dict()}, io.BytesIO())
