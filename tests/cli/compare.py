"""symprof compare on pairs of models, against the rows of onnx-array-api.

    compare.py PROGRAM [unittest arguments]
"""
import json
import os
import pathlib
import tempfile
import unittest

import onnx_bytes
import program
from program import ROOT

GOLDEN = ROOT / "tests" / "workbench" / "golden"
KINDS = {"INITIALIZER": "weight", "INPUT": "input", "RESULT": "result", "OUTPUT": "output", "NODE": "node"}
# The relative rounding error between kernels: sums may differ by this, times the sum of the absolute terms.
NEAR = 2e-3
# Of the largest sum: what sums of equal values differ by.
EQUAL = 1e-4


def golden_pairs():
    for path in sorted((GOLDEN / "rows").glob("*.json")):
        golden = json.loads(path.read_text())
        # The rows of two models without an input in common are those of runs on their own inputs.
        if golden["mode"] == "nodes" or {golden["a"], golden["b"]} != {"train_mlp", "train_attention"}:
            yield path.stem, golden


def golden_rows(name, mode):
    rows = json.loads((GOLDEN / "results" / f"{name}{'.nodes' if mode == 'nodes' else ''}.json").read_text())["rows"]
    return [[KINDS[row[0]], *row[1:]] for row in rows]


def model(name):
    return f"tests/workbench/golden/models/{name}.onnx"


def compare(a, b, *options):
    return json.loads(program.run("compare", model(a), model(b), "--format", "json", *options).stdout)


def rows_of(report, side):
    """In the order of the run: a side's rows come in their order, whatever their partners."""
    return [line[side] for line in report["lines"] if line[side]]


def own_inputs(name):
    return ["--inputs", f"tests/workbench/golden/models/{name.split('.')[0]}.npz"]


def computed(row):
    return row and row["kind"] == "result" and len(row["shape"]) >= 2 and row["op_type"] != "Constant"


def are_equal(a, b):
    """Whether two values are, as far as their sums tell: letters alone are often the same for unequal ones."""
    if (a["dtype"], a["shape"], a["signature"]) != (b["dtype"], b["shape"], b["signature"]):
        return False
    pairs = list(zip(a["sums"], b["sums"]))
    largest = max((abs(one) for pair in pairs for one in pair if one is not None), default=0)
    return all(x == y or None not in (x, y) and abs(x - y) <= EQUAL * largest for x, y in pairs)


def twins(report):
    """How many equal values of A and B there are, and how many of them are pairs."""
    left = [line["b"] for line in report["lines"] if computed(line["b"])]
    found = 0
    for line in report["lines"]:
        twin = next((row for row in left if computed(line["a"]) and are_equal(line["a"], row)), None)
        if twin:
            left.remove(twin)
            found += 1
    paired = sum(bool(computed(line["a"]) and computed(line["b"]) and are_equal(line["a"], line["b"]))
                 for line in report["lines"])
    return found, paired


class Rows(unittest.TestCase):
    def check_rows(self, found, wanted, has_run):
        texts = [[row["kind"], row["dtype"], row["shape"], row["op_type"], row["name"]] for row in found]
        self.assertEqual(texts, [[row[0], row[1], row[2], row[4] or "", row[5] or ""] for row in wanted])
        for row, golden in zip(found, wanted):
            sums = golden[6] if len(golden) > 6 else None
            if row["signature"] == golden[3] or not has_run:
                self.assertEqual(row["signature"], golden[3], row["name"])
                continue
            for mine, theirs in zip(row["sums"], sums):
                self.assertAlmostEqual(mine, float(theirs), delta=NEAR * max(1, abs(float(theirs))), msg=row["name"])

    def test_rows_marks_and_distance_are_the_tools(self):
        for name, golden in golden_pairs():
            with self.subTest(name):
                has_run = golden["mode"] != "nodes"
                options = own_inputs(golden["a"]) if has_run else ["--mode", "nodes"]
                report = compare(golden["a"], golden["b"], "--align", "edit", *options)
                a, b = (golden_rows(golden[side], golden["mode"]) for side in "ab")
                self.check_rows(rows_of(report, "a"), a, has_run)
                self.check_rows(rows_of(report, "b"), b, has_run)
                same = all(row["signature"] == wanted[3] for side, rows in (("a", a), ("b", b))
                           for row, wanted in zip(rows_of(report, side), rows))
                marks = [line["mark"] for line in report["lines"]]
                if same:
                    self.assertEqual(report["distance"], golden["distance"])
                    self.assertEqual(marks, [pair[0] for pair in golden["pairs"]])

    def test_equal_values_are_pairs_whatever_the_order_of_nodes(self):
        for name, golden in golden_pairs():
            if golden["mode"] == "nodes":
                continue
            with self.subTest(name):
                found, paired = twins(compare(golden["a"], golden["b"], *own_inputs(golden["a"])))
                self.assertGreaterEqual(paired, 0.95 * found)


class Values(unittest.TestCase):
    def test_a_model_is_itself(self):
        report = compare("llama", "llama", "--seed", "3")
        self.assertEqual({line["mark"] for line in report["lines"]}, {"="})
        self.assertEqual({line["absolute"] for line in report["lines"]}, {0})
        self.assertTrue(report["outputs_agree"])
        self.assertIsNone(report["first_divergence"])

    def test_an_optimized_model_agrees_and_another_does_not(self):
        self.assertTrue(compare("gpt", "gpt.ort_extended")["outputs_agree"])
        answer = program.run("compare", model("train_llama"), model("train_llama_mixed"), "--tolerance", "1e-9")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("first divergence", answer.stdout)

    def test_functions_opened_or_closed_have_the_same_values(self):
        closed, opened = (compare("gpt_functions", "gpt_inlined", "--functions", how) for how in ("keep", "inline"))
        self.assertTrue(closed["outputs_agree"] and opened["outputs_agree"])
        self.assertGreater(len(rows_of(opened, "a")), len(rows_of(closed, "a")))

    def test_formats_meet(self):
        for a, b in (("reused_layer.pt", "reused_layer.pt2"), ("convnet.pt2", "convnet.onnx"), ("convnet.onnx", "convnet.pt")):
            with self.subTest(f"{a} {b}"):
                report = program.read("compare", f"models/tiny/{a}", f"models/tiny/{b}", "--random-weights")
                self.assertTrue(report["outputs_agree"])
                self.assertIsNone(report["first_divergence"])


class Memory(unittest.TestCase):
    """A chain of nodes of 1 MiB each: all values of a side are `nodes` MiB."""

    def peak_mib(self, folder, nodes):
        names = [f"v{i}" for i in range(nodes + 1)]
        chain = [onnx_bytes.node("Neg", [a], [b]) for a, b in zip(names, names[1:])]
        path = pathlib.Path(folder) / f"chain{nodes}.onnx"
        path.write_bytes(onnx_bytes.model(chain, {names[0]: [512, 512]}, {names[-1]: [512, 512]}))
        # Each value is mapped by itself: what glibc keeps of freed ones, up to 60 MiB from run to run, is not held by anyone.
        environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
        measured = os.path.join(os.path.dirname(program.path), "symprof")  # Not a client of the tests' server.
        process = os.posix_spawn(measured, [measured, "compare", str(path), str(path), "--quiet", "-o", "/dev/null"], environment)
        _, status, usage = os.wait4(process, 0)
        self.assertEqual(status, 0)
        return usage.ru_maxrss / 1024

    def test_peak_does_not_follow_the_number_of_values(self):
        most_held = 256  # workbench/compare/compare.h
        with tempfile.TemporaryDirectory() as folder:
            short, long = (self.peak_mib(folder, nodes) for nodes in (20, 800))
        self.assertLess(long, short + most_held + 32)


def runtime():
    """ONNX Runtime's library, where a test is told of one."""
    return os.environ.get("SYMPROF_ONNXRUNTIME", "")


class Backends(unittest.TestCase):
    def test_without_the_library_one_line_says_where_it_comes_from(self):
        answer = program.run("compare", model("cnn"), model("cnn"), "--backend", "onnxruntime",
                             env={**os.environ, "SYMPROF_ONNXRUNTIME": "/nowhere/libonnxruntime.so"})
        self.assertEqual(answer.returncode, 3)
        self.assertIn("pip install onnxruntime", answer.stderr)
        self.assertEqual(len(answer.stderr.splitlines()), 2)

    def test_what_is_no_onnx_model_is_refused(self):
        answer = program.run("compare", "models/tiny/mlp.pt2", "models/tiny/mlp.onnx", "--backend", "onnxruntime")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("torch:onnxruntime", answer.stderr)
        self.assertEqual(program.run("compare", model("cnn"), model("cnn"), "--backend", "numpy").returncode, 2)

    @unittest.skipUnless(runtime(), "SYMPROF_ONNXRUNTIME names no library")
    def test_the_runtime_computes_what_symprof_computes(self):
        names = {golden[side] for _, golden in golden_pairs() for side in "ab" if golden["mode"] != "nodes"}
        for name in sorted(name for name in names if "." not in name or ".ort" in name):  # As exported, and fused.
            with self.subTest(name):
                report = compare(name, name, "--backend", "torch:onnxruntime", *own_inputs(name))
                self.assertEqual(report["backend_a"], "torch")
                self.assertRegex(report["backend_b"], r"onnxruntime \d+\.")
                self.assertTrue(report["outputs_agree"])
                apart = [line["a"]["name"] for line in report["lines"] if line["a"] and line["b"] and not line["is_within"]]
                self.assertEqual(apart, [])
                for line in report["lines"]:
                    if line["a"] and line["a"]["sums"]:  # The partner is the row of its own name, with values.
                        self.assertTrue(line["b"] and line["b"]["sums"])
                        self.assertEqual(line["a"]["name"], line["b"]["name"])

    @unittest.skipUnless(runtime(), "SYMPROF_ONNXRUNTIME names no library")
    def test_bisect_runs_whole_and_parts_by_the_backends(self):
        """The two round differently somewhere. The part does so again by these backends, and not by one alone."""
        with tempfile.TemporaryDirectory() as folder:
            part = pathlib.Path(folder) / "part"
            how = ("--tolerance", "1e-9")
            answer = program.run("bisect", model("llama"), model("llama"), *how, "--backend", "torch:onnxruntime", "-o", str(part))
            self.assertEqual(answer.returncode, 0)
            again = [f"{part}.a.onnx", f"{part}.b.onnx", "--inputs", f"{part}.a.npz", "--inputs", f"{part}.b.npz", *how]
            self.assertEqual(program.run("compare", *again, "--backend", "torch:onnxruntime").returncode, 1)
            self.assertEqual(program.run("compare", *again, "--backend", "onnxruntime").returncode, 0)

    @unittest.skipUnless(runtime(), "SYMPROF_ONNXRUNTIME names no library")
    def test_a_node_that_the_runtime_refuses_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "unknown.onnx"
            node = onnx_bytes.node("NoSuchOperator", ["x"], ["y"], name="odd", domain="com.microsoft")
            path.write_bytes(onnx_bytes.model([node], {"x": [2]}, {"y": [2]}, domains=["com.microsoft"]))
            answer = program.run("compare", str(path), str(path), "--backend", "onnxruntime")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("odd (NoSuchOperator)", answer.stderr)


if __name__ == "__main__":
    program.main()
