"""Files of tests/zoo/foreign, for the tests in foreign/."""
import json

from program import ROOT, read

FOREIGN = "tests/zoo/foreign"

LENGTHS = "lengths=int64[3]{5,3,2}"
KEPT = 5 + 3 + 2
PYTORCH = json.loads((ROOT / FOREIGN / "values.json").read_text())


def totals(name, *arguments):
    return read("profile", f"{FOREIGN}/{name}", *arguments)["totals"]
