"""Tests the memory reports: owners of the peak, memory snapshots, the page.

    memory.py PROGRAM [unittest arguments]
"""
import html.parser
import pathlib
import pickle
import tempfile
import unittest
import xml.dom.minidom

import program
from program import GPT2, ROOT


class RealAllocator(unittest.TestCase):
    """The peaks are those that PyTorch's allocator had over the same requests."""

    def test_steps_of_the_shipped_models(self):
        lines = (ROOT / "truth" / "allocator" / "steps.csv").read_text().splitlines()
        self.assertGreaterEqual(len(lines), 20)
        for line in lines:
            model, settings, allocated, reserved = line.split(";")
            totals = program.read("profile", f"models/{model}.pt2", "--optimizer", "adamw",
                                  "--alloc-conf", settings)["totals"]
            self.assertEqual(totals["peak_allocated_bytes"], int(allocated), line)
            self.assertEqual(totals["peak_reserved_bytes"], int(reserved), line)


class Peak(unittest.TestCase):
    """--peak: the table of the peak by owner."""

    def profile(self, *arguments):
        return program.run("profile", GPT2, "--peak", *arguments)

    def test_rows_follow_depth_and_top(self):
        text = self.profile("--depth", "2", "--optimizer", "adamw", "--top", "3").stdout
        rows = text[text.index("Holder"):].splitlines()[2:]
        names = [row.split("  ")[0] for row in rows]
        self.assertEqual(names[0], "model.transformer")
        self.assertEqual(len(names), 3 + 3)  # The others, a line, the sum.
        self.assertRegex(names[3], r"\[\d+ others\]")
        self.assertEqual(names[-1], "all")
        self.assertIn("100.0 %", rows[-1])

    def test_where_there_is_no_place_for_it(self):
        for arguments in [["--format", "csv"], ["--symbolic", "batch"]]:
            result = self.profile(*arguments)
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stdout, "")
            self.assertIn("--peak", result.stderr)


class Snapshot(unittest.TestCase):
    """Python reads the file; its trace leads to its segments, as the viewer needs it."""

    def snapshot(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "snapshot.pickle"
            result = program.run("profile", GPT2, *arguments, "--format", "memory-snapshot", "-o", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            return pickle.loads(path.read_bytes())

    def check(self, *arguments):
        found = self.snapshot(*arguments)
        requested, reserved = {}, 0
        for entry in found["device_traces"][0]:
            action, size = entry["action"], entry["size"]
            if action == "alloc":
                requested[entry["addr"]] = size
            elif action == "free_completed":
                self.assertEqual(requested.pop(entry["addr"]), size)
            elif action in ("segment_alloc", "segment_map"):
                reserved += size
            elif action in ("segment_free", "segment_unmap"):
                reserved -= size
        blocks = [block for segment in found["segments"] for block in segment["blocks"]]
        self.assertEqual(requested, {block["address"]: block["requested_size"] for block in blocks
                                     if block["state"] == "active_allocated"})
        self.assertEqual(reserved, sum(segment["total_size"] for segment in found["segments"]))
        for segment in found["segments"]:
            self.assertEqual(segment["total_size"], sum(b["size"] for b in segment["blocks"]))
        frames = {frame["name"] for entry in found["device_traces"][0]
                  for frame in entry["frames"]}
        self.assertIn("aten::addmm (forward)", frames)
        self.assertLessEqual({"parameters", "activations", "temporaries"}, frames)
        self.check_stacks(found["device_traces"][0])

    def check_stacks(self, trace):
        """A parameter's block is under its module, whatever asked for it; the last is the category."""
        for entry in trace:
            self.assertEqual(entry["frames"][-1]["filename"], "memory")
        stacks = [[frame["filename"] for frame in entry["frames"]] for entry in trace
                  if entry["action"] == "alloc" and entry["frames"][-1]["name"] == "parameters"]
        attention = "model.transformer.h.0.attn"
        self.assertTrue(any(f"{attention}.c_proj" in stack and attention in stack
                            for stack in stacks))

    def test_trace_and_segments_agree(self):
        self.check("--optimizer", "adamw")

    def test_expandable_segments(self):
        self.check("--alloc-conf", "expandable_segments:True")

    def test_it_needs_a_file(self):
        result = program.run("profile", GPT2, "--format", "memory-snapshot")
        self.assertEqual(result.returncode, 2)
        self.assertIn("Give -o snapshot.pickle", result.stderr)


class Page(unittest.TestCase):
    """--format html is well-formed, needs no other file, and draws what was counted."""

    def check_bars(self, page):
        bars = xml.dom.minidom.parseString(page[page.index("<svg"):page.index("</svg>") + 6])
        titles = [title.firstChild.data for title in bars.getElementsByTagName("title")]
        self.assertIn("model.transformer.wte", titles)
        self.assertTrue(any(title.startswith("model.transformer.wte: optimizer ")
                            for title in titles))
        for bar in bars.getElementsByTagName("rect"):
            right = float(bar.getAttribute("x")) + float(bar.getAttribute("width"))
            self.assertLessEqual(right, 1100)

    def test_page(self):
        result = program.run("profile", GPT2, "--optimizer", "adamw", "--by", "module",
                             "--format", "html")
        self.assertEqual(result.returncode, 0, result.stderr)
        page = result.stdout
        self.assertNotIn("http", page)
        drawing = xml.dom.minidom.parseString(page[page.index("<svg"):page.index("</svg>") + 6])
        layers = {title.firstChild.data.split(":")[0]
                  for title in drawing.getElementsByTagName("title")}
        self.assertLessEqual({"parameters", "optimizer", "gradients", "activations"}, layers)
        # No layer leaves the picture.
        for polygon in drawing.getElementsByTagName("polygon"):
            for point in polygon.getAttribute("points").split():
                x, y = map(float, point.split(","))
                self.assertTrue(0 <= x <= 1100 and 0 <= y <= 380, point)
        words = [text.firstChild.data for text in drawing.getElementsByTagName("text")]
        for word in ["forward", "backward", "optimizer"]:
            self.assertIn(word, words)
        self.check_bars(page[page.index("</svg>") + 6:])
        html.parser.HTMLParser().feed(page)


if __name__ == "__main__":
    program.main()
