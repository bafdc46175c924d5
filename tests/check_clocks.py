#!/usr/bin/env python3
"""Holds devices/clocks/*.json and the rules of profile/cost/time/ to the same names: every number is asked for, and
whatever is asked for is there. A rule may put a name together: "max_pool" and ".number"."""
import json
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent


def main():
    code = "".join(path.read_text() for path in sorted((root / "profile/cost/time").glob("*.cpp")))
    code = re.sub(r"#include.*|//.*", "", code)
    words = set(re.findall(r'"([^"]*)"', code))
    asked = {word for word in words if re.fullmatch(r"[a-z]\w*\.\w+", word)}
    wrong = []
    for path in sorted((root / "devices/clocks").glob("*.json")):
        known = {f"{rule}.{name}" for rule, values in json.loads(path.read_text()).items() if rule != "source"
                 for name in values if name != "source"}
        name = path.relative_to(root)
        wrong += [f"{name}: '{key}' is missing, for which a rule asks" for key in sorted(asked - known)]
        wrong += [f"{name}: no rule asks for '{key}'" for key in sorted(known - asked)
                  if not {key.split(".")[0], "." + key.split(".")[1]} <= words]
    print("\n".join(wrong) or f"{len(asked)} names of kernel clocks are known")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
