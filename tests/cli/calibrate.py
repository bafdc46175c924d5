#!/usr/bin/env python3
"""`symprof calibrate` on this machine's CPU, for moments: profiles accept the device file, and a later calibration continues
from its kernels.

The accuracy of its times is checked by truth/measured/cpu_steps.py."""
import json
import pathlib
import tempfile
import unittest

import onnx_bytes
import program
from program import TINY

MOMENT = "0.03"


def relu_us(numbers):
    """An H100 that is half as fast as the shipped one, about."""
    return 4 + 8 * numbers / 1.2e6


def trace_of_relus(sizes):
    """What torch.profiler writes with record_shapes=True of a ReLU of each size, one after the other."""
    events, now = [], 0
    for index, size in enumerate(sizes, 1):
        arguments = {"External id": index, "Input Dims": [[size]], "Input type": ["float"], "Input Strides": [[1]],
                     "Concrete Inputs": [""]}
        events += [
            {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": now, "dur": 9, "args": arguments},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": now + 1, "dur": 2,
             "args": {"correlation": index}},
            {"ph": "X", "cat": "kernel", "name": "vectorized_elementwise_kernel", "pid": 0, "tid": 7, "ts": now + 20,
             "dur": relu_us(size), "args": {"correlation": index, "device": 0, "stream": 7}}]
        now += 100 + relu_us(size)
    return {"deviceProperties": [{"name": "NVIDIA H100 80GB HBM3"}], "traceEvents": events}


class Calibrate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.device, cls.kernels = str(cls.folder / "here.json"), str(cls.folder / "kernels.json")
        cls.result = program.run("calibrate", "--minutes", MOMENT, "--measurements", cls.kernels, "-o", cls.device)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def measured(self):
        return json.loads(pathlib.Path(self.kernels).read_text())

    def test_writes_a_device_with_its_own_kernel_times(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        device = json.loads(pathlib.Path(self.device).read_text())
        self.assertEqual(device["name"], "here")
        self.assertTrue(device["is_cpu"])
        self.assertGreater(device["flops_per_second"]["float32"], 1e9)
        self.assertGreater(device["host_call_us"], 0)
        facts = self.measured()["device"]
        self.assertEqual(facts["device"], "cpu")
        self.assertIn(facts["date"], device["source"])
        for name, fitted in device["classes"].items():
            rows = [row for row in self.measured()["kernels"] if row["class"] == name]
            self.assertEqual(len(fitted["points"]), len(rows))
            self.assertTrue(fitted["calibrated"])
            self.assertGreater(fitted["interval"], 0)

    def test_the_shipped_cpu_is_fitted_on_the_recorded_kernels(self):
        kernels = program.ROOT / "truth" / "measured" / "cpu_kernels.json"
        fitted = str(self.folder / "epyc-2.json")
        result = program.run("calibrate", "--minutes", "0", "--measurements", str(kernels), "-o", fitted, "-q")
        self.assertEqual(result.returncode, 0, result.stderr)
        times = []
        for device in ("epyc-2", fitted):
            text = program.run("profile", "models/resnet50.pt2", "--device", device, "--time", "--format", "json").stdout
            times.append(json.loads(text)["totals"]["step_time_us"])
        self.assertAlmostEqual(times[0] / times[1], 1, delta=0.02)

    def test_a_cpu_takes_longer_for_gelu_by_tanh(self):
        times = []
        for approximate in ("none", "tanh"):
            path = self.folder / f"gelu_{approximate}.onnx"
            gelu = onnx_bytes.node("Gelu", ["x"], ["y"], attributes=[onnx_bytes.text("approximate", approximate)])
            path.write_bytes(onnx_bytes.model([gelu], {"x": (1024, 1024)}, {"y": (1024, 1024)}, opset=20))
            report = program.read("profile", str(path), "--mode", "inference", "--device", "epyc-2", "--time")
            calls = [call for node in report["nodes"] for call in node["calls"] if call["op"] == "aten::gelu"]
            self.assertEqual([call["kernel"] for call in calls], ["function.all"])
            times.append(calls[0]["time_us"])
        self.assertGreater(times[1], 2 * times[0])

    def test_goes_on_from_its_measurements_and_fits_them_again(self):
        again, copy = str(self.folder / "again.json"), self.folder / "copy.json"
        copy.write_text(pathlib.Path(self.kernels).read_text())
        result = program.run("calibrate", "--minutes", "0", "--measurements", str(copy), "-o", again, "--name", "here", "-q")
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
        self.assertEqual(pathlib.Path(again).read_text(), pathlib.Path(self.device).read_text())
        result = program.run("calibrate", "--minutes", MOMENT, "--measurements", str(copy), "-o", again, "-q")
        self.assertEqual(result.returncode, 0, result.stderr)
        before, after = self.measured()["kernels"], json.loads(copy.read_text())["kernels"]
        self.assertEqual(after[:len(before)], before)
        self.assertGreater(len(after), len(before))
        works = [json.dumps([row["class"], row["work"], row.get("launches")]) for row in after]
        self.assertEqual(len(set(works)), len(works))

    def test_an_estimate_stands_beside_a_measurement(self):
        report = program.read("measure", TINY, "--device", "cpu", "--steps", "2", "--estimate", self.device)
        run = report["measured"]["run"]
        self.assertGreater(run["estimated_step_us"], 0)
        self.assertGreater(run["step_us"], 0)

    def test_errors_say_what_to_do(self):
        cases = {
            ("-o", self.device, "--minutes", "soon"): "--minutes: 'soon' is no number of minutes",
            ("-o", self.device, "--minutes", "0"): "nothing was measured",
            ("--minutes", "1"): "no file for the device",
            ("-o", self.device, "--device", "tpu"): "'tpu' is no device that a step can run on",
            ("-o", str(self.folder / "none" / "x.json")): "none",
        }
        for options, words in cases.items():
            result = program.run("calibrate", *options)
            self.assertEqual(result.returncode, 2, (options, result.stderr))
            self.assertIn(words, result.stderr)
        damaged = self.folder / "damaged.json"
        damaged.write_text(pathlib.Path(self.kernels).read_text()[:200])
        result = program.run("calibrate", "-o", self.device, "--minutes", "0", "--measurements", str(damaged))
        self.assertEqual(result.returncode, 2)
        self.assertIn("damaged.json", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 2, result.stderr)

    def test_a_trace_gives_a_device(self):
        trace, device = self.folder / "trace.json", str(self.folder / "traced.json")
        trace.write_text(json.dumps(trace_of_relus([2 ** power for power in range(10, 28)])))
        result = program.run("calibrate", "--from", str(trace), "-o", device)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"elementwise +18 ")
        self.assertRegex(result.stdout, r"100\.0 % +kernels that were fitted")
        self.assertIn("18 kernels of a program", json.loads(pathlib.Path(device).read_text())["source"])
        for numbers in (3 * 2 ** 12, 3 * 2 ** 18, 3 * 2 ** 24):  # Between those of the trace.
            path = self.folder / f"relu_{numbers}.onnx"
            path.write_bytes(onnx_bytes.model([onnx_bytes.node("Relu", ["x"], ["y"])], {"x": (numbers,)}, {"y": (numbers,)}))
            report = program.read("profile", str(path), "--mode", "inference", "--device", device, "--time")
            times = [call["time_us"] for node in report["nodes"] for call in node["calls"] if call["op"] == "aten::relu"]
            self.assertEqual(len(times), 1)
            self.assertAlmostEqual(times[0] / relu_us(numbers), 1, delta=0.2)

    def test_a_trace_without_shapes_is_refused(self):
        trace, device = self.folder / "no_shapes.json", str(self.folder / "refused.json")
        whole = trace_of_relus([1024])
        for event in whole["traceEvents"]:
            if event["cat"] == "cpu_op":
                event["args"] = {"External id": 1}
        trace.write_text(json.dumps(whole))
        cases = {"record_shapes=True": [trace], "names no GPU": [self.folder / "no_gpu.json"],
                 "another trace of a": [trace, self.folder / "other.json"]}
        (self.folder / "no_gpu.json").write_text(json.dumps({"traceEvents": []}))
        (self.folder / "other.json").write_text(json.dumps({**whole, "deviceProperties": [{"name": "Tesla T4"}]}))
        for words, traces in cases.items():
            result = program.run("calibrate", *(word for one in traces for word in ("--from", str(one))), "-o", device)
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn(words, result.stderr)
            self.assertFalse(pathlib.Path(device).exists())
        result = program.run("calibrate", "--from", str(trace), "--minutes", "1", "-o", device)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("--minutes", result.stderr)

    def test_a_step_that_memory_cannot_hold_is_refused(self):
        result = program.run("measure", "models/llama_7b.pt2", "--set", "batch=4096", "--mode", "inference", "--dtype", "fp64")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertRegex(result.stderr, r"models/llama_7b\.pt2: its step takes .* of this machine's memory are free\.")

    def test_without_a_gpu_one_line_says_so(self):
        result = program.run("calibrate", "--device", "cuda", "-o", str(self.folder / "gpu.json"))
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertFalse((self.folder / "gpu.json").exists())


if __name__ == "__main__":
    program.main()
