"""Reports whether training fits, in Lightning before its first step.

    from symprof.lightning import FitCallback            # `import symprof` comes before `import torch`

    Trainer(callbacks=[FitCallback(device="a100-80g")])
"""
import importlib.util
from typing import Any

import torch

from ._before_training import fit_before_training

if importlib.util.find_spec("lightning") is not None:
    from lightning.pytorch import Callback
else:
    from pytorch_lightning import Callback


class TrainingStep(torch.nn.Module):
    """The module's own training_step as a forward pass. Logged values are dropped."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.module = module

    def forward(self, batch: Any) -> torch.Tensor:
        for name in ("log", "log_dict"):
            self.module.__dict__[name] = lambda *args, **kwargs: None
        output = self.module.training_step(batch, 0)
        loss: torch.Tensor = output["loss"] if isinstance(output, dict) else output
        return loss


class FitCallback(Callback):
    """Prints symprof's answer for one batch of the trainer's own, with its optimizer, precision and accumulation.

    With `stop`, training that does not fit ends before it begins.
    """

    def __init__(self, device: str = "h200", stop: bool = False) -> None:
        self.device, self.stop = device, stop
        self.fit: Any = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        precision = str(trainer.precision)
        autocast = "bf16" if precision == "bf16-mixed" else "fp16" if precision == "16-mixed" else None
        self.fit = fit_before_training(
            TrainingStep(pl_module), trainer.train_dataloader, lambda batch: {"args": (batch,)}, device=self.device,
            optimizer=trainer.optimizers[0] if trainer.optimizers else None, autocast=autocast,
            micro_batches=trainer.accumulate_grad_batches, loss=lambda output: output,
        )
        if trainer.is_global_zero:
            print(self.fit)
        if self.stop and not self.fit:
            trainer.should_stop = True
