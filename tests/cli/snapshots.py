"""Asks about memory snapshots as a user would: `symprof memory`.

    snapshots.py PROGRAM [unittest arguments]
"""
import gzip
import json
import pathlib
import pickle
import tempfile
import unittest

import program
from program import GPT2, ROOT

TOY = ROOT / "tests" / "snapshot" / "attention_toy.pickle"
MIB = 1 << 20


def ask(*arguments, code=0):
    return program.read("memory", *arguments, code=code)


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return str(path)


class OwnCounters(unittest.TestCase):
    """Of PyTorch's CUDA build on a stub driver, with each way of recording: beside torch.cuda.memory_stats (truth/snapshots/)."""

    def test_peaks_and_ends(self):
        folder = ROOT / "truth" / "snapshots" / "settings"
        for case, counters in json.loads((folder / "expected.json").read_text()).items():
            with self.subTest(case):
                answer = ask(folder / f"{case}.pickle.gz")
                self.assertEqual(set(answer["contradictions"].values()), {0})
                for name, wanted in counters.items():
                    self.assertEqual(answer["end"][f"{name}_bytes"], wanted["end"])
                    if case != "state":  # It has no events.
                        self.assertEqual(answer["peaks"][name]["bytes"], wanted["peak"])


class PublicSnapshot(WithFolder):
    """Of a run on a GPU; its figures are those that were published beside it (truth/snapshots/)."""

    def test_figures(self):
        answer = ask(TOY)
        self.assertEqual(answer["events"], 97)
        self.assertEqual(answer["peaks"]["requested"]["bytes"], 3249143816)
        self.assertEqual(answer["peaks"]["allocated"]["bytes"], 3249144832)
        self.assertEqual(answer["peaks"]["reserved"]["bytes"], 3781165056)
        self.assertEqual(answer["start"]["reserved_bytes"], 0)
        self.assertEqual(answer["end"]["allocated_bytes"], 31719936)
        self.assertEqual(answer["end"]["reserved_bytes"], 3781165056)
        self.assertEqual(set(answer["contradictions"].values()), {0})
        for owners in ("lines_at_peak", "modules_at_peak"):
            self.assertEqual(sum(owner["bytes"] for owner in answer[owners]), 3249144832)

    def test_every_protocol_plain_or_packed(self):
        answer = ask(TOY)
        content = pickle.loads(TOY.read_bytes())
        for protocol in (2, 3, 4, 5):
            plain = pickle.dumps(content, protocol)
            for bytes_ in (plain, gzip.compress(plain)):
                again = ask(self.write("again.pickle", bytes_))
                again["snapshot"] = answer["snapshot"]
                self.assertEqual(again, answer)

    def test_csv_has_the_peak(self):
        lines = program.run("memory", TOY, "--format", "csv").stdout.splitlines()
        self.assertEqual(lines[0], "kind,file,line,function,bytes,blocks")
        self.assertEqual(sum(int(line.split(",")[-2]) for line in lines[1:]), 3249144832)


class OwnSnapshot(WithFolder):
    """What symprof writes of a run that never happened, it reads back."""

    def check(self, *arguments):
        path = str(self.folder / "own.pickle")
        result = program.run("profile", GPT2, *arguments, "--format", "memory-snapshot", "-o", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        totals = program.read("profile", GPT2, *arguments)["totals"]
        answer = ask(path)
        self.assertEqual(answer["peaks"]["allocated"]["bytes"], totals["peak_allocated_bytes"])
        self.assertEqual(answer["peaks"]["reserved"]["bytes"], totals["peak_reserved_bytes"])
        self.assertEqual(set(answer["contradictions"].values()), {0})
        self.assertIn("model.transformer.h.0.mlp.c_fc",
                      {module["module"] for module in answer["modules_at_peak"]})

    def test_training(self):
        self.check("--optimizer", "adamw")

    def test_expandable_segments(self):
        self.check("--optimizer", "adamw", "--alloc-conf", "expandable_segments:True")


class BesideThePrediction(WithFolder):
    """A history that symprof predicted, as if it had been measured."""

    def measured(self, *arguments):
        path = str(self.folder / "measured.pickle")
        result = program.run("profile", GPT2, *arguments, "--format", "memory-snapshot", "-o", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def compare(self, path, *arguments):
        answer = program.read("profile", GPT2, *arguments, "--measured-memory", path)["measured_memory"]
        peaks = [answer[side]["peak_allocated_bytes"] for side in ("measured", "predicted")]
        bytes_ = sum(row["predicted_bytes"] - row["measured_bytes"] for row in answer["differences"])
        self.assertEqual(bytes_, peaks[1] - peaks[0])
        return answer

    def test_the_same_step(self):
        answer = self.compare(self.measured("--optimizer", "adamw"), "--optimizer", "adamw")
        self.assertEqual((answer["equal_share"], answer["differing"], answer["differences"]), (1, [], []))
        self.assertIn("the prediction holds", answer["verdict"])
        self.assertEqual(answer["measured"]["peak_reserved_bytes"], answer["predicted"]["peak_reserved_bytes"])

    def test_another_allocator_has_the_same_requests(self):
        path = self.measured("--optimizer", "adamw", "--alloc-conf", "expandable_segments:True")
        answer = self.compare(path, "--optimizer", "adamw")
        self.assertEqual((answer["equal_share"], answer["differing"]), (1, []))
        self.assertNotEqual(answer["measured"]["peak_reserved_bytes"], answer["predicted"]["peak_reserved_bytes"])

    def test_another_optimizer(self):
        answer = self.compare(self.measured("--optimizer", "adamw"), "--optimizer", "sgd")
        self.assertLess(answer["equal_share"], 1)
        first = answer["differing"][0]
        self.assertTrue(first["measured"] is None or first["predicted"] is None
                        or first["measured"]["requested_bytes"] != first["predicted"]["requested_bytes"])
        self.assertLess(answer["predicted"]["peak_allocated_bytes"], answer["measured"]["peak_allocated_bytes"])

    def test_fit_says_the_same_as_profile(self):
        path = self.measured("--optimizer", "adamw")
        printed = [program.run(verb, GPT2, "--optimizer", "adamw", "--measured-memory", path).stdout for verb in ("profile", "fit")]
        ends = [text[text.index(f"{path} beside"):] for text in printed]
        self.assertEqual(*ends)

    def test_the_settings_of_the_measured_allocator_are_named(self):
        measured = ROOT / "truth" / "snapshots" / "settings" / "roundup.pickle.gz"
        self.assertEqual(self.compare(measured)["alloc_conf"], "roundup_power2_divisions:4")
        printed = program.run("profile", GPT2, "--measured-memory", measured).stdout
        self.assertIn("the measured allocator had --alloc-conf roundup_power2_divisions:4", printed)

    def test_refusals(self):
        for arguments, words in [(("profile", "--format", "csv"), "no place for a measured history"),
                                 (("profile", "--symbolic", "batch"), "measured at one size"),
                                 (("fit", "--format", "json"), "no place for a measured history"),
                                 (("fit", "--device", "h200,l40s"), "measured on one device")]:
            result = program.run(arguments[0], GPT2, *arguments[1:], "--measured-memory", TOY)
            self.assertEqual(result.returncode, 2)
            self.assertIn(words, result.stderr)
        state = ROOT / "truth" / "snapshots" / "settings" / "state.pickle.gz"
        result = program.run("profile", GPT2, "--measured-memory", state)
        self.assertEqual(result.returncode, 2)
        self.assertIn("has no requests", result.stderr)


def stack(line, function="forward", file="/job/model.py"):
    return [{"name": function, "filename": file, "line": line},
            {"name": "<module>", "filename": "/job/train.py", "line": 40}]


class Program:
    """A training script whose blocks have a segment each."""

    def __init__(self):
        self.events, self.held, self.address = [], {}, 1 << 40

    def event(self, action, address, size, frames):
        self.events.append({"action": action, "addr": address, "size": size, "stream": 0,
                            "time_us": len(self.events), "frames": frames})

    def alloc(self, size, frames):
        self.address += 1 << 33
        self.event("segment_alloc", self.address, size, frames)
        self.event("alloc", self.address, size, frames)
        self.held[self.address] = size, frames
        return self.address

    def free(self, address):
        size, frames = self.held.pop(address)
        for action in ("free_requested", "free_completed", "segment_free"):
            self.event(action, address, size, frames)

    def pickle(self):
        segments = [{"device": 0, "address": address, "total_size": size, "allocated_size": size,
                     "active_size": size, "requested_size": size, "stream": 0, "segment_type": "large",
                     "segment_pool_id": (0, 0), "is_expandable": False, "frames": frames,
                     "blocks": [{"address": address, "size": size, "requested_size": size,
                                 "state": "active_allocated", "frames": frames}]}
                    for address, (size, frames) in self.held.items()]
        return pickle.dumps({"segments": segments, "device_traces": [self.events],
                             "allocator_settings": {}, "external_annotations": []})


def train(steps=5, moved=0, batch=4, leak=None, kept=None):
    """Of `layers` lines; a change moves all lines behind it."""
    run = Program()
    weights = [stack(number, "__init__") for number in (3, 4, 5)]
    for frames in weights:
        run.alloc(32 * MIB, frames)
    for step in range(steps):
        activations = [run.alloc(batch * (layer + 2) * 2 * MIB, stack(20 + layer + (moved if layer > 2 else 0)))
                       for layer in range(8)]
        if step == 0:
            for _ in weights:
                run.alloc(64 * MIB, stack(90, "step", "/job/optimizer.py"))
        if kept is not None:
            activations.append(run.alloc(48 * MIB, stack(kept)))
        if leak is not None:
            run.alloc(2 * MIB, stack(leak, "log", "/job/train_log.py"))
        for address in reversed(activations):
            run.free(address)
    return run.pickle()


class TwoSnapshots(WithFolder):
    def compare(self, before, after, *arguments, code=0):
        return ask(*arguments, self.write("a.pickle", before), "--", self.write("b.pickle", after), code=code)

    def test_the_change_is_first(self):
        cases = [(dict(kept=22, moved=1), "model.py:22 forward"), (dict(leak=7), "train_log.py:7 log"),
                 (dict(kept=23, moved=5), "model.py:23 forward")]
        for change, line in cases:
            answer = self.compare(train(), train(**change))
            self.assertEqual(answer["lines"][0]["after"]["name"], line)
            grown = answer["after"]["peak_allocated_bytes"] - answer["before"]["peak_allocated_bytes"]
            self.assertEqual(sum(row["bytes"] for row in answer["lines"]), grown)
            back = self.compare(train(**change), train())
            self.assertEqual(back["lines"][0]["before"]["name"], line)

    def test_a_larger_batch_is_growth(self):
        answer = self.compare(train(), train(batch=6))
        changed = [row for row in answer["lines"] if row["bytes"]]
        self.assertEqual(len(changed), 8)
        for row in changed:
            self.assertEqual((row["added_blocks"], row["removed_blocks"], row["resized_blocks"]), (0, 0, 1))

    def test_exit_codes(self):
        before, after = train(), train(kept=22)
        self.compare(before, after, "--fail-if-peak-grows", "2%", code=1)
        self.compare(before, after, "--fail-if-peak-grows", "80%")
        self.compare(after, before, "--fail-if-peak-grows", "0%")
        self.compare(before, before, "--fail-if-peak-grows", "0")
        result = program.run("memory", "--fail-if-peak-grows", "much", TOY, "--", TOY)
        self.assertEqual(result.returncode, 2)
        self.assertIn("no percentage", result.stderr)
        self.assertEqual(program.run("memory", "--fail-if-peak-grows", "2%", TOY).returncode, 2)

    def test_the_same_file(self):
        result = program.run("memory", TOY, "--", TOY)
        self.assertIn("Both peaks are held by the same blocks.", result.stdout)


class Leaks(WithFolder):
    def test_the_line_that_leaks(self):
        answer = ask(self.write("leak.pickle", train(steps=8, leak=7)))
        self.assertEqual(len(answer["steps"]), 8)
        self.assertEqual([leak["line"] for leak in answer["leaks"]], ["train_log.py:7 log"])
        self.assertEqual(answer["leaks"][0]["bytes"], 6 * 2 * MIB)
        self.assertEqual(ask(self.write("none.pickle", train(steps=8)))["leaks"], [])


class Broken(WithFolder):
    """One clear error each."""

    def refused(self, content, words):
        result = program.run("memory", self.write("broken.pickle", content))
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn(words, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_files_that_are_no_snapshots(self):
        whole = TOY.read_bytes()
        self.refused(b"", "the file ends")
        self.refused(whole[:1000], "the file ends")
        self.refused(gzip.compress(whole)[:-2000], "packed data ends")
        self.refused(b"{\"segments\": []}", "no pickle begins here")
        self.refused(pickle.dumps([1, 2]), "no 'segments'")
        self.refused(pickle.dumps({"segments": [], "device_traces": []}), "has no device")
        self.refused(pickle.dumps({"segments": [], "device_traces": [[1]]}), "no event")
        self.refused(pickle.dumps({"segments": [3], "device_traces": [[]]}), "'segments' is none")
        self.refused(pickle.dumps(print), "opcode STACK_GLOBAL")
        event = {"action": "alloc", "addr": 1 << 70, "size": 1, "stream": 0}
        self.refused(pickle.dumps({"segments": [], "device_traces": [[event]]}), "'addr' is not")
        result = program.run("memory", self.folder)
        self.assertIn("is a folder", result.stderr)
        self.assertIn("cannot be read", program.run("memory", self.folder / "none.pickle").stderr)

    def test_lists_that_are_named_many_times(self):
        """Small files that say they are large."""
        block = {"address": 1, "size": 1, "state": "inactive"}
        segment = {"blocks": [block] * 1000}
        self.refused(pickle.dumps({"segments": [segment] * 1000, "device_traces": [[]]}), "several times")
        trace = [{"action": "alloc", "addr": 1, "size": 1}] * 1000
        self.refused(pickle.dumps({"segments": [], "device_traces": [trace] * 1000}), "several times")
        self.refused(b"\x80\x04" + b"(" * 100 + b"e" * 100 + b".", "no list")
        self.refused(gzip.compress(b"\x80\x04" + b"]" * 50_000_000), "more lists and dictionaries")


if __name__ == "__main__":
    program.main()
