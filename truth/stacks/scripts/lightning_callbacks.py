# Lightning: callbacks (EMA of weights, early stopping, learning-rate monitor off), fp32, SGD, on_train hooks
# packages: lightning
import lightning as L, torch
from lightning.pytorch.callbacks import EarlyStopping, StochasticWeightAveraging
from torch import nn
class Count(L.Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        module.log("seen", float(index))
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.out = nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.Linear(16, 5)
    def training_step(self, batch, index):
        loss = nn.functional.cross_entropy(self.out(self.norm(self.conv(batch[0])).relu().mean((2, 3))), batch[1])
        self.log("loss", loss, prog_bar=True)
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)
data = torch.utils.data.TensorDataset(torch.randn(64, 3, 12, 12), torch.randint(0, 5, (64,)))
L.Trainer(max_epochs=1, accelerator="auto", devices=1, callbacks=[Count(), EarlyStopping("loss"), StochasticWeightAveraging(1e-2)], logger=False,
          enable_checkpointing=False, enable_progress_bar=False).fit(Net(), torch.utils.data.DataLoader(data, batch_size=8))
