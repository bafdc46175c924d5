#!/usr/bin/env python3
"""Small models whose sizes follow from the values of an input, and PyTorch's figures of a training step of each.

    make.py FOLDER

Writes into FOLDER (tests/zoo/foreign) each model as .pt2 and .pt, where PyTorch can, and values.json: FLOPs of
FlopCounterMode, and the bytes that saved_tensors_hooks sees on real tensors, without parameters and inputs."""
import json
import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

warnings.filterwarnings("ignore")
folder = pathlib.Path(sys.argv[1])
LENGTHS = torch.tensor([5, 3, 2])


class Frames(nn.Module):
    """A number that is read (item), a mask, the rows that it keeps, and a range that ends at the number."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x, lengths):
        if torch.jit.is_scripting():
            longest = int(lengths.max().item())
        else:
            longest = lengths.max().item()
            torch._check(longest >= 0)
            torch._check(longest <= x.shape[1])
        x = self.inner(x.narrow(1, 0, longest))
        mask = torch.arange(longest, device=x.device) < lengths.unsqueeze(1)
        return self.outer(x[mask])


class Counts(nn.Module):
    """Operators whose output is as long as data says."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 4)

    def forward(self, x, lengths):
        repeated = torch.repeat_interleave(x, lengths, 0)
        histogram = torch.bincount(lengths)
        places = torch.nonzero(lengths > 2).squeeze(1)
        kept = torch.masked_select(x, (lengths > 2).unsqueeze(1))
        return self.linear(repeated), histogram, x[places] * 2, kept * kept


class Recognizer(nn.Module):
    """ctc_loss reads the lengths of both sequences."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 6)

    def forward(self, x, targets, input_lengths, target_lengths):
        scores = F.log_softmax(self.linear(x), dim=-1).transpose(0, 1)
        return F.ctc_loss(scores, targets, input_lengths, target_lengths)


class Loops(nn.Module):
    """As many steps as a number says, and a branch on another one: TorchScript alone keeps them."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x, lengths):
        for _ in range(int(lengths[0])):
            x = self.linear(x)
        if bool(lengths.sum() > 9):
            x = self.linear(x)
        parts: list[int] = lengths.tolist()
        return x * parts[1]


class Packed(nn.Module):
    """An LSTM of packed sequences."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 4, batch_first=True)
        self.linear = nn.Linear(4, 2)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths.cpu(), batch_first=True)
        y, _ = self.lstm(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(y, batch_first=True)
        return self.linear(padded)


class Vocoder(nn.Module):
    """istft asks whether the windows cover the signal."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(33, 33)
        self.register_buffer("window", torch.hann_window(64))

    def forward(self, x):
        spectrum = torch.stft(x, 64, 16, window=self.window, return_complex=True)
        mask = torch.sigmoid(self.linear(spectrum.abs().transpose(1, 2))).transpose(1, 2)
        return torch.istft(spectrum * mask, 64, 16, window=self.window)


X = torch.randn(3, 6, 8)
TARGETS = torch.randint(1, 6, (3, 4))
SHORT = torch.tensor([4, 2, 1])
MODELS = {
    "frames": (Frames, (X, LENGTHS)),
    "counts": (Counts, (torch.randn(3, 8), LENGTHS)),
    "recognizer": (Recognizer, (X, TARGETS, LENGTHS, SHORT)),
    "loops": (Loops, (torch.randn(3, 8), LENGTHS)),
    "packed": (Packed, (X, LENGTHS)),
    "vocoder": (Vocoder, (torch.randn(2, 256),)),
}


def storage(tensor):
    return tensor.untyped_storage()._cdata


def measure(module, inputs):
    """FLOPs of one forward and backward pass from ones, and what is saved."""
    known = {storage(t) for t in [*module.parameters(), *module.buffers(), *inputs]}
    saved = {}

    def pack(tensor):
        if storage(tensor) not in known:
            saved[storage(tensor)] = tensor  # Keeps the storage, so that no other has its address.
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        module(*inputs)  # Without FlopCounterMode, under which ctc_loss takes another path.
    with FlopCounterMode(display=False) as forward:
        outputs = module(*inputs)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    outputs = [o for o in outputs if o.requires_grad]
    with FlopCounterMode(display=False) as backward:
        torch.autograd.backward(outputs, [torch.ones_like(o) for o in outputs])
    return {"fwd_flops": forward.get_total_flops(), "bwd_flops": backward.get_total_flops(),
            "saved_bytes": sum(t.untyped_storage().nbytes() for t in saved.values())}


def attempt(name, write):
    try:
        write()
    except Exception as error:  # A format that cannot say it.
        print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}")


def main():
    truth = {}
    for name, (make, inputs) in MODELS.items():
        torch.manual_seed(0)
        module = make().train()
        truth[name] = measure(module, inputs)
        attempt(f"{name}.pt2", lambda: torch.export.save(torch.export.export(module, inputs), folder / f"{name}.pt2"))
        attempt(f"{name}.pt", lambda: torch.jit.save(torch.jit.script(module), folder / f"{name}.pt"))
        if name in ("vocoder", "recognizer"):
            attempt(f"{name}_traced.pt", lambda: torch.jit.save(torch.jit.trace(module, inputs, check_trace=False),
                                                                folder / f"{name}_traced.pt"))
    (folder / "values.json").write_text(json.dumps(truth, indent=1) + "\n")


main()
