"""Reports of peaks that a file leaves uncertain, compared with the peaks of PyTorch's eager modules
(truth/lifetimes/helpers, made by truth/helpers.py).

    peaks.py PROGRAM [unittest arguments]

Standard library only.
"""
import json
import unittest

import program
from program import ROOT, read, run

HELPERS = ROOT / "truth" / "lifetimes" / "helpers"
NOT_BOUND = {
    "list_nobody_reads.pt2",  # `kept.append(x)` of a variable: no node has that line
    "dictionary_traced.pt",  # torch.jit.trace drops a call whose result nothing reads
}


def profiles():
    """(file, PyTorch's peak, symprof's peak, its memory) of each module, exported and traced, in inference."""
    for name, record in json.loads((HELPERS / "eager.json").read_text()).items():
        for path in (HELPERS / f"{name}.pt2", HELPERS / f"{name}_traced.pt"):
            found = read("profile", str(path), "--mode", "inference")
            yield path, record["peak_bytes"], found["totals"]["peak_tensor_bytes"], found["memory"]


class Peaks(unittest.TestCase):
    def test_a_lower_bound_is_below_the_real_peak_and_the_bound_beside_it_above(self):
        marked = 0
        for path, wanted, found, memory in profiles():
            with self.subTest(path.name):
                self.assertGreaterEqual(memory["peak_doubt_most_bytes"], memory["peak_doubt_bytes"])
                if memory["peak_is_lower_bound"] and path.name not in NOT_BOUND:
                    marked += 1
                    self.assertGreaterEqual(found + memory["peak_doubt_most_bytes"], wanted)
        self.assertGreater(marked, 20)

    def test_names_that_lines_show_are_exact(self):
        for name in ("appended_list", "handed_on", "super_forward"):
            wanted = json.loads((HELPERS / "eager.json").read_text())[name]["peak_bytes"]
            found = read("profile", str(HELPERS / f"{name}.pt2"), "--mode", "inference")
            self.assertEqual(found["totals"]["peak_tensor_bytes"], wanted)
            self.assertFalse(found["memory"]["peak_is_lower_bound"])

    def test_fit_sets_the_bound_aside_in_inference(self):
        path = str(HELPERS / "kept_by_method.pt2")
        memory = read("profile", path, "--mode", "inference")["memory"]
        fit = read("fit", path, "--mode", "inference", "--device", "t4")
        self.assertEqual(fit["set_aside_bytes"], memory["peak_doubt_most_bytes"])
        self.assertIs(fit["fits_if_likely"], True)
        self.assertIs(fit["fits_at_most"], True)
        self.assertIn("it fits even so", run("fit", path, "--mode", "inference", "--device", "t4").stdout)

    def test_fit_says_nothing_of_bounds_where_the_file_tells_all(self):
        fit = read("fit", str(HELPERS / "handed_on.pt2"), "--mode", "inference", "--device", "t4")
        self.assertEqual(fit["set_aside_bytes"], 0)
        self.assertIsNone(fit["fits_if_likely"])
        self.assertIsNone(fit["fits_at_most"])


if __name__ == "__main__":
    program.main()
