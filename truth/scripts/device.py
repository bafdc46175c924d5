"""The device of both sides."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def without_plans(folder):
    """The file of an H200 where cuDNN takes nothing: the GPU that computes nothing has no cuDNN, which chooses plans."""
    device = json.loads((ROOT / "devices" / "h200.json").read_text())
    del device["cudnn_copies_operands"], device["kernel_times"], device["kernel_clocks"]
    path = pathlib.Path(folder) / "device.json"
    path.write_text(json.dumps(device))
    return path
