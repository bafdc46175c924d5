"""Whether a planned training loop takes of PyTorch's own allocator what the plan says.

  python plan_peaks.py SYMPROF CUDA_PYTHON CUDA_INCLUDE [MODEL ...]        ends with 1 where something differs

CUDA_PYTHON has a CUDA build of PyTorch and the transformers that made steps/full/*.pt2 (steps/allocator.json names both). It runs on the GPU that computes nothing of ../launches/fakes.py. Each of
five full-size models is planned for budgets between what it reserves with every region again and with none, and runs once. The Python file that `symprof plan checkpoint --format python` writes is applied to the
unchanged module. Held, to the byte: torch.cuda.max_memory_allocated and max_memory_reserved of eight steps, and that nothing about names changes.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STEPS = HERE.parent / "steps"
sys.path[:0] = [str(STEPS), str(HERE.parent / "h200"), str(HERE.parent / "launches")]
# AdamW's update is the peak of qwen_like, which no plan lowers. That of llama_1b's is with any optimizer: its plans take a segment up front, and nothing else.
MODELS = {"gpt2_small": "adamw:foreach", "bert_base": "adamw:foreach", "llama_1b": "adamw:foreach", "mistral_like": "sgd_momentum:foreach",
          "qwen_like": "sgd_momentum:foreach"}
# Known to differ (../steps/allocator_causes.json): checkpoint keeps position_ids, which are given to a block by name and which it does not read.
MORE_ALLOCATED = {"mistral_like": 4096, "qwen_like": 4096}
SHARES = (1 / 24, 0.25, 0.5, 0.75)


def run_planned(name, plan_file):
    """Peaks of the loop with the plan, in a process of its own."""
    import real_allocator as real
    import torch

    code = {}
    exec(pathlib.Path(plan_file).read_text(), code)  # Before the model: it may take a segment up front.
    task, make_inputs = real.build(name)
    names = [name for name, _ in task.named_parameters()]
    import make_steps

    optimizer = make_steps.make_optimizer(MODELS[name], task.parameters())
    apply_plan = code["apply_plan"]
    apply_plan(task, optimizer) if "make_states" in code else apply_plan(task)
    for _ in range(real.STEPS):
        optimizer.zero_grad()
        inputs = make_inputs()
        loss = task(*inputs)
        loss.backward()
        optimizer.step()
    return {"peak_allocated_bytes": torch.cuda.max_memory_allocated(), "peak_reserved_bytes": torch.cuda.max_memory_reserved(),
            "names": names == [name for name, _ in task.named_parameters()], "retries": torch.cuda.memory_stats()["num_alloc_retries"]}


def planned(symprof, name, form, *given):
    command = [symprof, "plan", "checkpoint", STEPS / "full" / f"{name}.pt2", "--optimizer", MODELS[name], "--device", "h200", "--attention", "efficient",
               "--context", "0", "--alloc-conf", "expandable_segments:False", "--format", form, *given]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check(symprof, cuda_python, environment, folder, name):
    ends = json.loads(planned(symprof, name, "json", "--budget", "100TiB"))
    low, high = ends["all_again"]["peak_reserved_bytes"], ends["without"]["peak_reserved_bytes"]
    differ = 0
    for given in [["--budget", str(int(low + share * (high - low)))] for share in SHARES]:
        said = json.loads(planned(symprof, name, "json", *given))["budgets"][0]
        plan_file = pathlib.Path(folder) / f"{name}.py"
        plan_file.write_text(planned(symprof, name, "python", *given))
        command = [cuda_python, __file__, "--one", name, str(plan_file)]
        output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout
        found = json.loads(output.splitlines()[-1])
        regions = said["plan"]["regions"]
        more = MORE_ALLOCATED.get(name, 0) if regions else 0
        is_same = found["names"] and found["peak_allocated_bytes"] == said["peak_allocated_bytes"] + more and found["peak_reserved_bytes"] == said["peak_reserved_bytes"]
        differ += not is_same
        print(f"{name}: {' '.join(given)}: {len(regions)} regions again, {sum(len(region.get('keep', ())) for region in regions)} calls kept; said "
              f"{said['peak_allocated_bytes']} allocated, {said['peak_reserved_bytes']} reserved; PyTorch {found}: {'equal' if is_same else 'DIFFERENT'}", flush=True)
    return differ


def main():
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(run_planned(sys.argv[2], sys.argv[3])))
        return
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    import fakes

    symprof, cuda_python, include, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        environment = fakes.environment_of(cuda_python, include, folder)
        differ = sum(check(symprof, cuda_python, environment, folder, name) for name in names or MODELS)
    sys.exit(differ > 0)


if __name__ == "__main__":
    main()
