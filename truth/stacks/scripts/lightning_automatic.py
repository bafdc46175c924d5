# Lightning, automatic optimization: bf16-mixed, clipping, two accumulated batches, validation each epoch
# packages: lightning
import lightning as L, torch
from torch import nn
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 10))
    def training_step(self, batch, index):
        loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss
    def validation_step(self, batch, index):
        self.log("accuracy", (self.net(batch[0]).argmax(1) == batch[1]).float().mean())
    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters())
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.StepLR(opt, 1)}
data = torch.utils.data.TensorDataset(torch.randn(128, 128), torch.randint(0, 10, (128,)))
loader = torch.utils.data.DataLoader(data, batch_size=16)
L.Trainer(max_steps=6, accelerator="auto", devices=1, precision="bf16-mixed", gradient_clip_val=1.0, accumulate_grad_batches=2, num_sanity_val_steps=1,
          logger=False, enable_checkpointing=False, enable_progress_bar=False).fit(Net(), loader, loader)
