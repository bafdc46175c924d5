#!/usr/bin/env python3
"""Plants bugs into ONNX models, and asks `symprof compare` where they are: another axis, another epsilon, swapped
inputs, one bug in one node of each of 50 copies, no two the same. In every second copy all results and nodes have other
names. A plant counts where onnxruntime gives the node another value and the model other outputs. Prints a line for
each; exit 1 where fewer than 48 of 50 are named as the first divergence.

Needs onnx and onnxruntime: python3 truth/workbench/plant_bugs.py build/release/bin/symprof [plants] [seed]"""
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnx.numpy_helper
import onnxruntime

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "tests" / "workbench" / "golden" / "models"
MODELS = ["llama", "llama_script", "llama_dynamic", "gpt", "gpt_inlined", "cnn", "train_mlp", "train_attention", "train_llama"]
WANTED = 0.96
LEAST = 1e-4  # A smaller change of a value is no bug that anybody could see.
NOT_SYMMETRIC = {"Sub", "Div", "Pow", "MatMul", "Gemm", "Concat", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"}


def axis_plants(node):
    """The node with another axis, or another order of axes."""
    for attribute in node.attribute:
        if attribute.name == "axis":
            for axis in (-2, -1, 0, 1):
                if axis != attribute.i:
                    changed = copy.deepcopy(node)
                    next(a for a in changed.attribute if a.name == "axis").i = axis
                    yield changed, f"axis {attribute.i} -> {axis}"
        if attribute.name in ("perm", "axes") and len(attribute.ints) > 1:
            changed = copy.deepcopy(node)
            ints = next(a for a in changed.attribute if a.name == attribute.name).ints
            ints[-1], ints[-2] = ints[-2], ints[-1]
            yield changed, f"{attribute.name} {list(attribute.ints)} -> {list(ints)}"


def epsilon_plants(node):
    for attribute in node.attribute:
        if attribute.name == "epsilon":
            changed = copy.deepcopy(node)
            next(a for a in changed.attribute if a.name == "epsilon").f = 0.1
            yield changed, f"epsilon {attribute.f:g} -> 0.1"


def constant_epsilon_plants(node):
    """An epsilon that stands in a Constant."""
    if node.op_type != "Constant" or node.attribute[0].name != "value":
        return
    value = onnx.numpy_helper.to_array(node.attribute[0].t)
    if value.size == 1 and value.dtype == np.float32 and 0 < float(value.reshape(())) < 1e-4:
        changed = copy.deepcopy(node)
        changed.attribute[0].t.CopyFrom(onnx.numpy_helper.from_array(np.full_like(value, 0.1), node.attribute[0].t.name))
        yield changed, f"epsilon {float(value.reshape(())):g} -> 0.1"


def swap_plants(node):
    if node.op_type in NOT_SYMMETRIC and len(node.input) >= 2 and node.input[0] != node.input[1]:
        changed = copy.deepcopy(node)
        changed.input[0], changed.input[1] = node.input[1], node.input[0]
        yield changed, "swapped inputs"


def plants(model):
    for index, node in enumerate(model.graph.node):
        for find in (axis_plants, epsilon_plants, constant_epsilon_plants, swap_plants):
            for changed, what in find(node):
                yield find.__name__, index, changed, what


def renamed(model):
    """The model with other names for what its nodes make, but for its outputs; none for its nodes."""
    kept = {output.name for output in model.graph.output}
    made = [name for node in model.graph.node for name in node.output if name and name not in kept]
    names = {name: f"r{number}" for number, name in enumerate(made)}
    for node in model.graph.node:
        node.name = ""
        node.input[:] = [names.get(name, name) for name in node.input]
        node.output[:] = [names.get(name, name) for name in node.output]
    del model.graph.value_info[:]
    return model


def run(model, feeds, results):
    """The values of `results`, of those that the model has no outputs of yet too; None where it cannot be run."""
    asked = copy.deepcopy(model)
    known = {output.name for output in asked.graph.output}
    asked.graph.output.extend(onnx.ValueInfoProto(name=name) for name in results if name not in known)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(asked.SerializeToString(), options)
        return session.run(results, {one.name: feeds[one.name] for one in session.get_inputs()})
    except Exception:  # The runtime has a class for each kind of refusal.
        return None


def differ(x, y):
    if x.shape != y.shape or x.dtype != y.dtype:
        return True
    x, y = x.astype(np.float64), y.astype(np.float64)
    return not np.allclose(x, y, rtol=LEAST, atol=LEAST, equal_nan=True)


def is_bug(model, planted, index, feeds):
    results = [model.graph.node[index].output[0], *[output.name for output in model.graph.output]]
    before, after = run(model, feeds, results), run(planted, feeds, results)
    if before is None or after is None or not differ(before[0], after[0]):
        return False
    return any(map(differ, before[1:], after[1:]))


def named_divergence(symprof, model, planted, inputs):
    command = [symprof, "compare", str(model), str(planted), "--inputs", str(inputs), "--format", "json", "--quiet"]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode not in (0, 1):
        return answer.stderr.strip().splitlines()[0], answer.returncode
    report = json.loads(answer.stdout)
    first = report["first_divergence"]
    return report["lines"][first]["a"]["name"] if first is not None else "nothing", answer.returncode


def main(symprof, count=50, seed=0):
    generator, folder = random.Random(seed), pathlib.Path(tempfile.mkdtemp())
    models, feeds, found = {}, {}, []
    for name in MODELS:
        models[name] = onnx.load(GOLDEN / f"{name}.onnx")
        arrays = np.load(GOLDEN / f"{name}.npz")
        feeds[name] = {key.replace("__", "/"): value for key, value in arrays.items()}
        np.savez(folder / f"{name}.npz", **feeds[name])
        by_kind = {}
        for kind, *plant in plants(models[name]):
            by_kind.setdefault(kind, []).append(plant)
        found.extend((name, some) for some in by_kind.values())
    good = made = 0
    while made < count:
        name, some = generator.choice(found)
        if not some:
            continue
        index, changed, what = some.pop(generator.randrange(len(some)))
        planted = copy.deepcopy(models[name])
        planted.graph.node[index].CopyFrom(changed)
        if not is_bug(models[name], planted, index, feeds[name]):
            continue
        made += 1
        path = folder / f"planted_{made}.onnx"
        onnx.save(renamed(planted) if made % 2 else planted, path)
        node = models[name].graph.node[index]
        answer, code = named_divergence(symprof, GOLDEN / f"{name}.onnx", path, folder / f"{name}.npz")
        is_named = code == 1 and answer in node.output
        good += is_named
        print(f"{made:3} {'named' if is_named else 'MISSED'} {name}: {node.op_type} {node.output[0]}, {what}{', other names' if made % 2 else ''}"
              + ("" if is_named else f"; symprof says {answer}"), flush=True)
    print(f"{good} of {count} named as the first divergence")
    return good < WANTED * count


if __name__ == "__main__":
    onnxruntime.set_default_logger_severity(4)
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
