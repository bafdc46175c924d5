#!/usr/bin/env python3
"""What `symprof plan parallel` estimates of a rank's memory, beside what PyTorch's CUDA build counted of it.

    python truth/parallel/estimates.py SYMPROF RANKS.json

With a Python that has torch. RANKS.json has records of PyTorch's own allocator (`decoder6`: a decoder of 6 blocks in fp32,
2 x 1024 tokens a rank, `adamw:foreach`, cross entropy). The same decoder is exported here."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "models"), str(ROOT / "tests" / "cli" / "parallel_plans")]
CASES = {"one_gpu": ("1", "mb=1", 2), "ddp8_bucket_view": ("8", "ddp=8 mb=1", 16), "fsdp2": ("2", "fsdp=2 mb=1", 4),
         "fsdp4": ("4", "fsdp=4 mb=1", 8), "fsdp8": ("8", "fsdp=8 mb=1", 16), "hsdp2x4": ("2x4", "hsdp=2x4 mb=1", 16),
         "tp4": ("4", "tp=4 mb=1", 2)}


def export(path):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    import decoder
    import pt2_file

    with FakeTensorMode():
        model = decoder.Decoder(2048, 16, 16, 5632, 6, 50257)
        program = pt2_file.export(model, (torch.zeros(2, 1024, dtype=torch.int64),), "train", {})
    pt2_file.write(program, path, keep_weights=False)


def main():
    symprof, truth = sys.argv[1:]
    records = {one["config"]: one for one in json.loads(pathlib.Path(truth).read_text())["records"]
               if one["model"] == "decoder6" and one["optimizer"] == "adamw:foreach"}
    print("| layout | estimated, GB | reserved | by reserved |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "decoder.pt2"
        export(model)
        for name, (mesh, layout, batch) in CASES.items():
            asked = [symprof, "plan", "parallel", os.fspath(model), "--mesh", mesh, "--layout", layout, "--global-batch",
                     str(batch), "--loss", "cross_entropy", "--optimizer", "adamw:foreach", "--format", "json"]
            plan = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)["plan"]
            estimated, reserved = plan["estimated_peak_bytes"], records[name]["peak_reserved"]
            print(f"| {name} | {estimated / 1e9:.2f} | {reserved / 1e9:.2f} | {estimated / reserved:.2f} |")


if __name__ == "__main__":
    main()
