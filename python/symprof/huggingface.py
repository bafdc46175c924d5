"""Reports whether training fits, in transformers' Trainer before its first step.

    from symprof.huggingface import FitCallback          # `import symprof` comes before `import torch`

    Trainer(model, args, …, callbacks=[FitCallback(device="a100-80g")])
"""
from typing import Any

from transformers import TrainerCallback

from ._before_training import fit_before_training


class FitCallback(TrainerCallback):
    """Prints symprof's answer for one batch of the trainer's own, with its optimizer, precision and accumulation.

    With `stop`, training that does not fit ends before it begins.
    """

    def __init__(self, device: str = "h200", stop: bool = False) -> None:
        self.device, self.stop = device, stop
        self.fit: Any = None

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, optimizer: Any = None,
                       train_dataloader: Any = None, **rest: Any) -> None:
        autocast = "bf16" if args.bf16 else "fp16" if args.fp16 else None
        self.fit = fit_before_training(
            model, train_dataloader, lambda batch: {"kwargs": dict(batch)}, device=self.device,
            optimizer=getattr(optimizer, "optimizer", optimizer), autocast=autocast,
            micro_batches=args.gradient_accumulation_steps,
        )
        if state.is_world_process_zero:
            print(self.fit)
        if self.stop and not self.fit:
            control.should_training_stop = True
