# Lightning, manual optimization: two optimizers toggled in one training_step
# packages: lightning
# updates: 2
import lightning as L, torch
from torch import nn
class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.G, self.D = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 128)), nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))
    def training_step(self, batch, index):
        g, d = self.optimizers()
        real = batch[0]
        fake = self.G(torch.randn(real.size(0), 16, device=self.device))
        self.toggle_optimizer(d)
        d.zero_grad()
        self.manual_backward(nn.functional.softplus(-self.D(real)).mean() + nn.functional.softplus(self.D(fake.detach())).mean())
        d.step()
        self.untoggle_optimizer(d)
        self.toggle_optimizer(g)
        g.zero_grad()
        self.manual_backward(nn.functional.softplus(-self.D(fake)).mean())
        g.step()
        self.untoggle_optimizer(g)
    def configure_optimizers(self):
        return torch.optim.Adam(self.G.parameters(), 1e-4), torch.optim.Adam(self.D.parameters(), 1e-4)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(256, 128)), batch_size=32)
L.Trainer(max_epochs=1, accelerator="auto", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False).fit(Gan(), loader)
