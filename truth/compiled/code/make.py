"""Writes output_code_forward.py and output_code_backward.py beside it: what torch.compile writes of the network below with
TORCH_COMPILE_DEBUG=1, in PyTorch's CUDA build on the stub driver (../README.md)."""
import os
import pathlib
import tempfile

import torch
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
BATCH, WIDTH = 32, 64


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        return (x + self.down(nn.functional.gelu(self.up(self.norm(x))))).sum()


def main():
    torch._inductor.config.trace.enabled = True  # As TORCH_COMPILE_DEBUG=1 sets it.
    with tempfile.TemporaryDirectory() as folder:
        torch._dynamo.config.debug_dir_root = folder
        torch.compile(Net().cuda())(torch.randn(BATCH, WIDTH, device="cuda")).backward()
        for path in pathlib.Path(folder).rglob("output_code.py"):
            name = "backward" if "backward" in path.parent.name else "forward"
            lines = path.read_text().splitlines(keepends=True)
            (HERE / f"output_code_{name}.py").write_text("".join(line for line in lines if not line.startswith("# kernel path:")))


if __name__ == "__main__":
    os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
    main()
