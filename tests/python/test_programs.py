"""Random small programs are what PyTorch on the CPU says, or refused in a sentence (programs/compare.py has all of them)."""
import pathlib
import sys
import unittest

FOLDER = pathlib.Path(__file__).parent / "programs"
sys.path.insert(0, str(FOLDER))
from children import verdicts  # noqa: E402
from generate import generate  # noqa: E402

SEEDS = range(46)
WRONG = '''
import torch

def program(dev, mark):
    weight = torch.nn.Parameter(torch.ones(4, 4, device=dev))
    opt = torch.optim.SGD([weight], lr=0.1)
    for i in range(2):
        mark.begin()
        (weight @ torch.ones(4, 4 if dev == "cpu" else 2, device=dev)).sum().backward()
        opt.step()
        mark.end()
'''


class Programs(unittest.TestCase):
    def test_figures_are_those_of_the_cpu(self):
        programs = [generate(seed) for seed in SEEDS]
        for program, verdict in zip(programs, verdicts([program.text for program in programs]), strict=True):
            with self.subTest(seed=program.seed, loop=program.kind):
                self.assertIn(verdict.state, ("equal", "refused", "warned"), verdict.what)

    def test_a_program_that_differs_is_found(self):
        (verdict,) = verdicts([WRONG])
        self.assertEqual((verdict.state, verdict.what.split(":")[0]), ("wrong", "forward"))

    def test_a_process_that_ends_names_its_program(self):
        good = "def program(dev, mark):\n    mark.begin()\n    mark.end()\n"
        bad = ("import os, signal\ndef program(dev, mark):\n    if dev == 'cuda':\n"
               "        os.kill(os.getpid(), signal.SIGSEGV)\n")
        found = verdicts([good, bad, good])
        self.assertEqual([verdict.state for verdict in found], ["equal", "crashed", "equal"])
        self.assertRegex(found[1].what, r"SIGSEGV: .*program0001\.py")


if __name__ == "__main__":
    unittest.main()
