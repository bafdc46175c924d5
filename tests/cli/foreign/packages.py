"""Models of packages against PyTorch."""
import json
import unittest

from foreign_files import FOREIGN, totals
from program import ROOT


class Packages(unittest.TestCase):
    OPTIONS = {"fp32": (), "bf16": ("--dtype", "bf16"), "autocast": ("--autocast", "bf16")}

    def test_flops_and_saved_bytes_are_pytorchs(self):
        """truth/foreign/ has the script that made files and figures."""
        expected = sorted((ROOT / FOREIGN / "packages").glob("*.json"))
        self.assertTrue(expected)
        for path in expected:
            for setting, figures in json.loads(path.read_text()).items():
                with self.subTest(f"{path.stem} {setting}"):
                    found = totals(f"packages/{path.stem}.pt2", *self.OPTIONS[setting])
                    self.assertEqual({key: found[key] for key in figures}, figures)
