"""Runs the program as a user would: help, exit codes, formats. What errors say: tests/golden/errors.

    run.py PROGRAM [unittest arguments]

Standard library only.
"""
import csv
import io
import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest

import program
from program import DYNAMIC, GPT2, ROOT, TINY, VIT, run

COMMANDS = ["profile", "fit", "devices", "ops"]


def profile(*arguments):
    return program.read("profile", *arguments)


class Errors(unittest.TestCase):
    def test_no_command_prints_the_help_and_fails(self):
        result = run()
        self.assertEqual(result.returncode, 2)
        self.assertIn("Commands:", result.stderr)

    def test_missing_library(self):
        """A missing library or device is exit code 3, in two lines, also while a model is read."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bin").mkdir()
            (folder / "lib").mkdir()
            copy = folder / "bin" / "symprof"
            copy.write_bytes(pathlib.Path(program.path).read_bytes())
            copy.chmod(0o755)
            core = pathlib.Path(program.path).parents[1] / "lib" / "libsymprof_core.so"
            (folder / "lib" / core.name).write_bytes(core.read_bytes())
            result = subprocess.run([copy, "profile", TINY], cwd=ROOT, capture_output=True,
                                    text=True, timeout=120,
                                    env=dict(os.environ, LD_LIBRARY_PATH=str(folder / "lib")))
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("libsymprof_torch.so", result.stderr)
            self.assertEqual(result.stderr.count("\n"), 2)


class Help(unittest.TestCase):
    def test_every_command_has_help_with_an_example(self):
        for arguments in [[], *([command] for command in COMMANDS)]:
            result = run(*arguments, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("Example", result.stdout)
            self.assertIn(" ".join(["Usage: symprof", *arguments]), result.stdout)
            self.assertLess(max(map(len, result.stdout.splitlines())), 121)

    def test_the_examples_run(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "lengths.csv").write_text("length\n128\n256\n64\n")
            for file in [*(ROOT / "models").glob("*.*"), *(ROOT / "examples").glob("*.json"), ROOT / "models/tiny/encoder.pt2"]:
                (pathlib.Path(folder) / file.name).symlink_to(file)
            for name in ("before.json", "after.json"):  # Traces of resnet50.pt2.
                (pathlib.Path(folder) / name).symlink_to(ROOT / "truth/kineto/cpu/resnet50.json.gz")
            for command in [[], *([command] for command in COMMANDS)]:
                lines = run(*command, "--help").stdout.splitlines()
                examples = [shlex.split(line)[1:] for line in lines if line.startswith("  symprof ")]
                self.assertNotEqual(examples, [], command)
                for example in examples:
                    result = run(*example, cwd=folder)
                    self.assertEqual((result.returncode, result.stderr), (0, ""), example)

    def test_version(self):
        self.assertRegex(run("--version").stdout, r"^symprof \d+\.\d+\.\d+\n$")


class Lists(unittest.TestCase):
    def test_devices(self):
        devices = program.read("devices")["devices"]
        names = [device["name"] for device in devices]
        self.assertIn("h200", names)
        self.assertEqual(names, sorted(names))
        for name in names:
            self.assertIn(name, run("devices").stdout)

    def test_ops(self):
        ops = program.read("ops")["ops"]
        confidence = {op["op"]: op["confidence"] for op in ops}
        self.assertEqual(confidence["aten::mm"], "exact")
        self.assertEqual(confidence["aten::view"], "free")
        self.assertEqual(len(confidence), len(ops))
        onnx_ops = program.read("ops", "--onnx")["ops"]
        self.assertEqual(onnx_ops, sorted(set(onnx_ops)))
        self.assertIn("onnx::Conv", onnx_ops)
        self.assertIn("onnx::Conv\n", run("ops", "--onnx").stdout)


TOTALS = """fwd_flops bwd_flops fwd_macs bwd_macs fwd_flops_all bwd_flops_all param_bytes param_count
    buffer_bytes input_bytes grad_bytes optimizer_bytes saved_bytes saved_bytes_with_inputs
    peak_allocated_bytes peak_reserved_bytes peak_tensor_bytes peak_at fwd_time_us bwd_time_us optimizer_time_us
    step_time_us comm_bytes recompute_flops recompute_flops_all model_flops hardware_flops""".split()
NODE = """id name module op inputs outputs accumulate_bytes incremental_bytes output_bytes temp_bytes
    param_bytes backward_bytes fwd_flops bwd_flops fwd_flops_all bwd_flops_all fwd_time_us
    bwd_time_us comm_bytes recompute_flops
    recompute_flops_all confidence calls""".split()
CALL = "op phase flops bytes_read bytes_written confidence".split()


class Profile(unittest.TestCase):
    def test_json_has_what_the_schema_names(self):
        report = profile(TINY)
        self.assertEqual(report["schema"], "symprof.profile/1")
        for key in ["model", "options", "coverage", "totals", "memory", "nodes", "timeline", "measured",
                    "warnings"]:
            self.assertIn(key, report)
        self.assertLessEqual(set(TOTALS), set(report["totals"]))
        self.assertEqual(set(report["model"]), {"path", "format", "producer"})
        self.assertLessEqual({"mode", "optimizer", "autocast", "attention", "device"},
                             set(report["options"]))
        for node in report["nodes"]:
            self.assertLessEqual(set(NODE), set(node))
            for call in node["calls"]:
                self.assertLessEqual(set(CALL), set(call))
        self.assertGreaterEqual(report["totals"]["peak_reserved_bytes"],
                                report["totals"]["peak_allocated_bytes"])
        self.assertIsNone(report["totals"]["step_time_us"])
        self.assertIsNone(report["measured"])

    def test_products_in_tf32_are_faster_where_the_gpu_has_it(self):
        def step_us(device, *precision):
            options = ("--float32-matmul-precision", *precision) if precision else ()
            return profile(GPT2, "--time", "--device", device, *options)["totals"]["step_time_us"]

        self.assertLess(step_us("h100", "high"), step_us("h100") / 1.5)
        self.assertEqual(step_us("h100", "medium"), step_us("h100", "high"))
        self.assertEqual(step_us("h100", "highest"), step_us("h100"))
        self.assertEqual(step_us("t4", "high"), step_us("t4"))

    def test_nothing_is_lost(self):
        """The nodes' calls are all calls; sums of the nodes are the totals."""
        report = profile(VIT, "--optimizer", "adamw")
        nodes, totals, coverage = report["nodes"], report["totals"], report["coverage"]
        calls = [call for node in nodes for call in node["calls"]]
        self.assertEqual(len(calls), coverage["calls"])
        self.assertEqual(sum(coverage[kind] for kind in
                             ["exact", "modelled", "free", "unmodelled"]), coverage["calls"])
        for key in ["fwd_flops", "bwd_flops", "fwd_flops_all", "bwd_flops_all", "optimizer_flops"]:
            self.assertEqual(sum(node[key] for node in nodes), totals[key], key)
        self.assertEqual(sum(node["incremental_bytes"] for node in nodes),
                         totals["saved_bytes_with_inputs"])
        self.assertEqual(nodes[-1]["accumulate_bytes"], totals["saved_bytes_with_inputs"])
        timeline = report["timeline"]
        self.assertEqual(totals["peak_allocated_bytes"],
                         max(point["highest"] for point in timeline))
        for point in timeline:
            self.assertEqual(sum(point["held"].values()), point["allocated"])
            self.assertGreaterEqual(point["highest"], point["allocated"])

    def test_options_say_what_ran(self):
        options = profile(DYNAMIC, "--set", "x.0=3", "--dtype", "bf16", "--micro-batches", "2",
                          "--alloc-conf", "expandable_segments:True")["options"]
        self.assertEqual(options["sizes"], {"x.0": 3})
        self.assertEqual(options["dtype"], "bfloat16")
        self.assertEqual(options["micro_batches"], 2)
        self.assertEqual(options["alloc_conf"], "expandable_segments:True")
        self.assertEqual(options["unbacked"], "refuse")

    def test_frozen_parameters_get_no_gradient_and_no_update(self):
        for model in ["models/tiny/mlp.pt2", "models/tiny/mlp.onnx", "models/tiny/mlp.pt"]:
            sizes = ["--set", "batch=8"] if model.endswith("onnx") else []
            step = ["--input", "x=float32[8,64]"] if model.endswith("pt") else sizes
            plain = profile(model, *step)["totals"]
            report = profile(model, *step, "--freeze", "up", "--optimizer", "adamw")
            totals = report["totals"]
            up = (64 + 1) * 256 * 4
            self.assertEqual(totals["param_bytes"], plain["param_bytes"])
            self.assertEqual(totals["grad_bytes"], plain["grad_bytes"] - up)
            states = 2 * totals["grad_bytes"]
            self.assertLess(totals["optimizer_bytes"] - states, 100)  # And a step count each.
            self.assertEqual(report["options"]["freeze"], ["up"])
            # Nor does the second layer, [256, 10], need its input's gradient.
            self.assertEqual(totals["bwd_flops"],
                             plain["bwd_flops"] - 2 * 8 * 256 * (64 + 10))
        refused = run("profile", TINY, "--freeze", "upp")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("no parameter matches --freeze upp", refused.stderr)

    def test_recomputed_calls_have_a_phase_and_their_flops(self):
        plain = profile(GPT2)
        report = profile(GPT2, "--checkpoint", "model.transformer.h.*")
        totals = report["totals"]
        calls = [call for node in report["nodes"] for call in node["calls"]]
        again = [call["flops"] for call in calls if call["phase"] == "recompute"]
        self.assertEqual(sum(again), totals["recompute_flops_all"])
        self.assertEqual(sum(node["recompute_flops_all"] for node in report["nodes"]), sum(again))
        self.assertEqual(totals["model_flops"], plain["totals"]["model_flops"])
        self.assertEqual(totals["hardware_flops"],
                         totals["model_flops"] + totals["recompute_flops"])
        self.assertGreater(totals["recompute_flops"], 0)
        self.assertEqual(plain["totals"]["recompute_flops_all"], 0)
        text = run("profile", GPT2, "--checkpoint", "model.transformer.h.*").stdout
        self.assertIn("\nrecomputed   ", text)
        self.assertNotIn("\nrecomputed ", run("profile", GPT2).stdout)

    def test_csv_agrees_with_json(self):
        nodes = profile(TINY)["nodes"]
        result = run("profile", TINY, "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        # A step without a loss and an optimizer has no rows for them.
        nodes = [node for node in nodes
                 if node["calls"] or node["op"] not in ("loss", "optimizer")]
        self.assertEqual(len(rows), len(nodes))
        for row, node in zip(rows, nodes):
            self.assertEqual(row["op_type"], node["op"])
            self.assertEqual(int(row["accumulate_bytes"]), node["accumulate_bytes"])
            self.assertEqual(int(row["fwd_flops"]), node["fwd_flops_all"])

    def test_columns_sort_and_top(self):
        result = run("profile", TINY, "--format", "csv", "--columns", "op,fwd_flops,calls",
                     "--sort", "fwd_flops", "--top", "2")
        rows = list(csv.reader(io.StringIO(result.stdout)))
        self.assertEqual(rows[0], ["op", "fwd_flops", "calls"])
        self.assertEqual(len(rows), 1 + 2 + 1)
        self.assertGreaterEqual(int(rows[1][1]), int(rows[2][1]))
        total = profile(TINY)["totals"]["fwd_flops_all"]
        self.assertEqual(sum(int(row[1]) for row in rows[1:]), total)

    def test_folding_keeps_the_sums(self):
        totals = profile(VIT, "--optimizer", "adamw")["totals"]
        for options in [["--by", "module"], ["--by", "module", "--depth", "2"], ["--by", "op"]]:
            result = run("profile", VIT, "--optimizer", "adamw", "--format", "csv", *options)
            rows = list(csv.DictReader(io.StringIO(result.stdout)))
            self.assertEqual(sum(int(row["fwd_flops"]) for row in rows), totals["fwd_flops_all"])
            self.assertEqual(sum(int(row["optimizer_flops"]) for row in rows), totals["optimizer_flops"])
            self.assertEqual(sum(int(row["incremental_bytes"]) for row in rows),
                             totals["saved_bytes_with_inputs"])

    def test_modes(self):
        totals = {mode: profile(VIT, "--mode", mode)["totals"]
                  for mode in ["train", "eval", "inference"]}
        self.assertEqual(totals["inference"]["bwd_flops"], 0)
        self.assertEqual(totals["inference"]["saved_bytes"], 0)
        self.assertEqual(totals["train"]["fwd_flops"], totals["inference"]["fwd_flops"])
        self.assertGreater(totals["train"]["bwd_flops"], 0)

    def test_a_dimension_that_is_set(self):
        for options in [["--set", "x.0=3"], ["--input", "x=[3,64]"]]:
            given = profile(TINY, *options)["nodes"][0]
            self.assertEqual(given["outputs"], [{"dtype": "float32", "shape": [3, 64]}])

    def test_table(self):
        result = run("profile", TINY)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        first, _, titles, *_ = result.stdout.splitlines()
        self.assertTrue(first.startswith(TINY + ": "))
        self.assertIn("calls", first)
        for title in ["Op type", "Accumulate size", "Incremental size", "Output size", "Temp size",
                      "Param size", "Backward size", "Fwd FLOPs", "Bwd FLOPs"]:
            self.assertIn(title, titles)
        self.assertNotIn("\x1b", result.stdout)
        self.assertIn("Fwd MACs", run("profile", TINY, "--unit", "macs").stdout)


if __name__ == "__main__":
    program.main()
