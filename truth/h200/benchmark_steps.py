#!/usr/bin/env python3
"""Training steps of convolutional models under cuDNN's benchmark and without, whose peaks no formula saw.

    python truth/h200/benchmark_steps.py --record ROWS.json          # on the GPU; torchvision, no symprof
    python truth/h200/benchmark_steps.py benchmark_steps.json        # anywhere, with symprof's package and its PyTorch

Two steps of SGD with momentum for each of torchvision's models, in fp32 and under autocast to bf16. Recorded are the peaks of
torch.cuda.max_memory_allocated and max_memory_reserved since the process began; the comparison runs the same Python on the
simulated device. A model's figures are a process of its own."""
import argparse
import json
import multiprocessing
import pathlib
import statistics
import sys

MODELS = {"vgg16_bn": 16, "densenet121": 32, "mobilenet_v3_large": 64, "regnet_y_1_6gf": 32, "shufflenet_v2_x1_0": 64,
          "squeezenet1_1": 64, "mnasnet1_0": 64, "googlenet": 64, "wide_resnet50_2": 16, "segmentation.fcn_resnet50": 8,
          "segmentation.deeplabv3_mobilenet_v3_large": 16, "video.r3d_18": 4}
NAMES = [f"{model}-{dtype}-{benchmark}" for model in MODELS for dtype in ("fp32", "autocast") for benchmark in ("benchmark", "heuristics")]
NEAR = 0.03


def step_of(model, images, optimizer, dtype):
    import torch
    with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "autocast"):
        found = model(images)
        found = found["out"] if isinstance(found, dict) else found[0] if isinstance(found, tuple) else found
        loss = found.float().square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def peaks(name):
    import torch
    import torchvision
    model_name, dtype, benchmark = name.split("-")
    torch.backends.cudnn.benchmark = benchmark == "benchmark"
    module = torchvision.models
    for part in model_name.split("."):
        module = getattr(module, part)
    batch = MODELS[model_name]
    more = {"weights_backbone": None} if model_name.startswith("segmentation") else {"init_weights": False} if model_name == "googlenet" else {}
    model = module(weights=None, **more).cuda()
    sizes = (batch, 3, 8, 112, 112) if model_name.startswith("video") else (batch, 3, 224, 224)
    images = torch.randn(sizes, device="cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(2):
        step_of(model, images, optimizer, dtype)
    return {"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}


def recorded(name):
    import torch
    try:
        row = peaks(name)
    except RuntimeError as error:
        row = {"error": str(error).splitlines()[0]}
    print(name, row, flush=True)
    return name, row, torch.cuda.get_device_name(), torch.__version__


def record(path):
    document = {"rows": {}}
    with multiprocessing.get_context("spawn").Pool(6, maxtasksperchild=1) as pool:
        for name, row, device, version in pool.imap_unordered(recorded, NAMES):
            document |= {"device": device, "torch": version}
            document["rows"][name] = row
            pathlib.Path(path).write_text(json.dumps(document, indent=0, sort_keys=True) + "\n")


def simulated(name):
    import symprof
    with symprof.simulate(device="h200", alloc_conf="torch:2.11"):
        return peaks(name)


def compare(path):
    import symprof  # noqa: F401  above torch
    from memory.jobs import define_torchvision_operators
    define_torchvision_operators()
    rows = json.loads(pathlib.Path(path).read_text())["rows"]
    errors = {}
    for name in NAMES:
        if "error" in rows[name]:
            continue
        found = simulated(name)
        off = {what: found[what] / rows[name][what] - 1 for what in ("allocated", "reserved")}
        print(f"| {name} | {rows[name]['allocated'] / 2**20:,.0f} MiB | {off['allocated']:+.2%} "
              f"| {rows[name]['reserved'] / 2**20:,.0f} MiB | {off['reserved']:+.2%} |", flush=True)
        for what, error in off.items():
            errors.setdefault((name.split("-")[2], what), []).append(abs(error))
    for (benchmark, what), found in sorted(errors.items()):
        near = sum(error <= NEAR for error in found)
        print(f"{benchmark}, {what}: median {statistics.median(found):.2%}, worst {max(found):.1%}, {near} of {len(found)} within 3 %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="?")
    parser.add_argument("--record", metavar="ROWS")
    given = parser.parse_args()
    if given.record:
        return record(given.record)
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    return compare(given.rows)


if __name__ == "__main__":
    sys.exit(main())
