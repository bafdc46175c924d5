"""Destinations of the output: files, links, devices, terminals.

    output.py PROGRAM [unittest arguments]
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import program
from program import TINY, VIT, run


class Output(unittest.TestCase):
    def test_file(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "out.json"
            result = run("profile", TINY, "--format", "json", "-o", str(path))
            self.assertEqual((result.returncode, result.stdout), (0, ""))
            self.assertEqual(json.loads(path.read_text())["schema"], "symprof.profile/1")
            self.assertEqual(os.listdir(name), ["out.json"])
            mask = os.umask(0)
            os.umask(mask)
            self.assertEqual(path.stat().st_mode & 0o777, 0o666 & ~mask)

    def test_a_trace_has_every_call_in_its_time(self):
        report = program.read("profile", TINY, "--time", "--device", "h100")
        trace = program.run("profile", TINY, "--format", "chrome-trace", "--device", "h100")
        events = json.loads(trace.stdout)["traceEvents"]
        slices = [event for event in events if event["ph"] == "X"]
        host = [event for event in slices if event["pid"] == 0]
        device = sorted((event for event in slices if event["pid"] == 1), key=lambda event: event["ts"])
        calls = {call["call"]: call for node in report["nodes"] for call in node["calls"]}
        self.assertEqual({event["args"]["call"] for event in host}, set(calls))
        self.assertEqual({event["args"]["call"] for event in device},
                         {number for number, call in calls.items() if call["launches"]})
        for event in device:
            self.assertAlmostEqual(event["dur"], calls[event["args"]["call"]]["time_us"], delta=0.002)
        self.check_follows(device)  # Perfetto drops a slice that begins before the one ahead of it has ended.
        self.check_follows(host)
        starts = {event["id"]: event["ts"] for event in events if event["ph"] == "s" and event["cat"] == "launch"}
        ends = {event["id"]: event["ts"] for event in events if event["ph"] == "f" and event["cat"] == "launch"}
        self.assertEqual(starts.keys(), ends.keys())
        self.assertTrue(all(starts[number] < ends[number] for number in starts))

    def check_follows(self, slices):
        """To the nanosecond."""
        slices = sorted(slices, key=lambda event: event["ts"])
        for before, after in zip(slices, slices[1:]):
            self.assertLessEqual(round(1e3 * (before["ts"] + before["dur"])), round(1e3 * after["ts"]))

    def test_a_measured_step_stands_beside_the_predicted_one(self):
        with tempfile.TemporaryDirectory() as folder:
            saved, trace = pathlib.Path(folder) / "run.json", pathlib.Path(folder) / "trace.json"
            done = run("measure", TINY, "--steps", "2", "--save", str(saved), "--trace", str(trace))
            self.assertEqual(done.returncode, 0, done.stderr)
            calls = json.loads(saved.read_text())["timeline"]["calls"]
            slices = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
            self.assertEqual({event["pid"] for event in slices}, {2})  # Nothing is estimated.
            self.assertEqual([event["name"] for event in slices], [call["op"] for call in calls])
            self.assertEqual([event["ts"] for event in slices], [call["begin_us"] for call in calls])
            self.check_follows(slices)
            beside = run("profile", TINY, "--format", "chrome-trace", "--measured", str(saved))
            events = json.loads(beside.stdout)["traceEvents"]
            self.assertEqual({event["pid"] for event in events if event["ph"] == "X"}, {0, 1, 2})
            done = run("measure", TINY, "--steps", "1", "--save", str(saved))
            refused = run("profile", TINY, "--format", "chrome-trace", "--measured", str(saved))
            self.assertEqual(refused.returncode, 2)
            self.assertIn("no step in time", refused.stderr)

    def test_an_error_leaves_an_old_file_as_it_was(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "out.txt"
            path.write_text("before")
            self.assertEqual(run("profile", "models/none.pt2", "-o", str(path)).returncode, 2)
            self.assertEqual(path.read_text(), "before")
            self.assertEqual(os.listdir(name), ["out.txt"])

    def test_a_link_keeps_pointing(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "link").symlink_to("target")
            self.assertEqual(run("ops", "-o", str(folder / "link")).returncode, 0)
            self.assertTrue((folder / "link").is_symlink())
            self.assertIn("aten::mm", (folder / "target").read_text())

    def test_a_device_is_written_to(self):
        self.assertEqual(run("ops", "-o", "/dev/null").returncode, 0)
        self.assertEqual(run("ops", "-o", "/dev/full").returncode, 2)

    def test_a_full_standard_output(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([program.path, "ops"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 2)

    def on_terminal(self, *arguments, **env):
        code, text = program.run_on_terminal(*arguments, **env)
        self.assertEqual(code, 0)
        return text

    def test_color_only_on_a_terminal_that_wants_it(self):
        self.assertIn(b"\x1b[1m", self.on_terminal("ops", NO_COLOR=""))
        self.assertNotIn(b"\x1b", self.on_terminal("ops", NO_COLOR="1"))

    def test_the_progress_bar_is_gone_before_the_answer(self):
        """More than a second of work: the bar's line ends with "done/total"."""
        text = self.on_terminal("fit", VIT, "--max", "s77", "--optimizer", "adamw", "--device",
                                "all", NO_COLOR="1")
        answer = text.index(VIT.encode())
        self.assertTrue(answer == 0 or text[:answer].endswith(b"\r\x1b[K"), text[:answer][-80:])


if __name__ == "__main__":
    program.main()
