#!/usr/bin/env python3
"""Writes lifetimes/: how much memory the forward pass of eager modules takes, call by call.

Usage: python truth/lifetimes.py [NAME ...]     (lifetimes/README.md has the fields)
Names are those of lifetimes_models.py, which it exports as well, and of the zoo.
"""
import json
import pathlib
import subprocess
import sys
import warnings
import weakref

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
RESULT = HERE / "lifetimes" / "eager.json"
BLOCK = 512
# torch.jit.script refuses a dataclass, an attribute that forward makes, a module as argument, and lambda.
NOT_SCRIPTED = ("container", "kept", "helper", "mapped")
IN_ONNX = ("named_once", "nested", "loop")  # those whose nodes make the calls of the module
sys.path.insert(0, str(ROOT / "models"))


def live_bytes_after_allocations(module, inputs):
    """One sum for each new storage on the device: what is alive when its call has returned."""
    import measure
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    before = [*module.parameters(), *module.buffers(), *inputs]
    alive = {measure.storage_key(x): 0 for x in before}
    sums = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            output = func(*args, **(kwargs or {}))
            for tensor in tree_leaves(output):
                if isinstance(tensor, torch.Tensor) and tensor.device.type == "cuda":
                    self.note(tensor.untyped_storage())
            return output

        def note(self, storage):
            key = storage._cdata
            if key not in alive:
                alive[key] = -(-storage.nbytes() // BLOCK) * BLOCK
                weakref.finalize(storage, alive.pop, key)
                sums.append(sum(alive.values()))

    with torch.no_grad(), Watch():
        module(*inputs)
    return sums


def record(module, inputs):
    import fake_models
    import measure
    from torch._subclasses.fake_tensor import FakeTensorMode

    module.eval()
    mover = fake_models.Mover(None)
    with FakeTensorMode():
        mover.module(module)
        inputs = tuple(mover.tensor(x) for x in inputs)
        parts = measure.tracked_peak(module, inputs, lambda: measure.inference_step(module, inputs))
        sums = live_bytes_after_allocations(module, inputs)
    return {"peak_bytes": parts["total"], "allocations": len(sums), "sum_bytes": sum(sums),
            "live_bytes": sums}


def write_onnx(program, path):
    """As the exporter writes it, without weights and local paths; the stack traces stay."""
    import onnx_file
    import pt2_file

    model = onnx_file.by_dynamo(program, None, "small")
    for weight in model.graph.initializer:
        if weight.raw_data:
            onnx_file.drop_data(weight)
    for node in model.graph.node:
        for entry in node.metadata_props:
            entry.value = pt2_file.without_local_paths(entry.value.encode()).decode()
    path.write_bytes(model.SerializeToString(deterministic=True))


def write_torchscript(name):
    """As torch.jit.trace and torch.jit.script write it; a script also without lines of Python."""
    import lifetimes_models
    import pt_file

    module, inputs = lifetimes_models.MODELS[name]()
    pt_file.write(pt_file.trace(module, inputs, "eval"), RESULT.parent / f"{name}_traced.pt", True)
    if name in NOT_SCRIPTED:
        return
    for suffix, keep_lines in (("_scripted", True), ("_scripted_code", False)):
        script = pt_file.script(lifetimes_models.MODELS[name]()[0], "eval")
        pt_file.write(script, RESULT.parent / f"{name}{suffix}.pt", keep_lines)


def measure_one(name):
    import fake_cuda

    fake_cuda.load()  # before torch
    warnings.filterwarnings("ignore")
    import lifetimes_models
    import pt2_file
    import torch
    import zoo

    torch.set_num_threads(1)
    if name in lifetimes_models.MODELS:
        module, inputs = lifetimes_models.MODELS[name]()
        program = pt2_file.export(module, inputs, "eval")
        pt2_file.write(program, RESULT.parent / f"{name}.pt2", False)
        if name in IN_ONNX:
            write_onnx(program, RESULT.parent / f"{name}.onnx")
        write_torchscript(name)
        return record(*lifetimes_models.MODELS[name]())
    if name in zoo.MODELS:
        found = record(*zoo.build_without_memory(name))
    else:
        from architectures import ARCHITECTURES, building

        found = record(*building.build_without_memory(ARCHITECTURES[name]))
    del found["live_bytes"]
    return found


def all_names():
    script = "import lifetimes_models, zoo, architectures as a; " \
             "print(*lifetimes_models.MODELS, *a.ARCHITECTURES)"
    done = subprocess.run([sys.executable, "-c", script], cwd=HERE, text=True,
                          env={"PYTHONPATH": str(ROOT / "models")}, capture_output=True)
    return done.stdout.split()


def measure_each(script, result, names, measure):
    """Runs `script --one NAME` for each of `names`, in a process of its own, and adds what comes to `result`."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2])))
        return
    result.parent.mkdir(exist_ok=True)
    found = json.loads(result.read_text()) if result.exists() else {}
    for name in sys.argv[1:] or names():
        done = subprocess.run([sys.executable, script, "--one", name], text=True,
                              capture_output=True)
        print(name, done.stdout.strip()[:100] or done.stderr.strip()[-300:], flush=True)
        if done.returncode == 0:
            found[name] = json.loads(done.stdout.splitlines()[-1])
        rows = [f' "{key}": {json.dumps(value)}' for key, value in sorted(found.items())]
        result.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    measure_each(__file__, RESULT, all_names, measure_one)
