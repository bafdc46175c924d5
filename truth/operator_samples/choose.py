"""Of many calls of one operator, the few that differ most."""
import json
import re

TENSOR = re.compile(r"(\w+)\[([\d,]*)(\|[\d,]*)?\]([^@]*)(@cpu)?$")


def features_of(line):
    """What makes a call different: for each argument its dtype, rank, layout, sharing, value."""
    record = json.loads(line)
    found = {("raises", bool(record.get("raises")))}

    def visit(value, place):
        match = TENSOR.match(value) if isinstance(value, str) else None
        if match:
            dtype, sizes, strides, rest, host = match.groups()
            sizes = sizes.split(",") if sizes else []
            found.update({(place, dtype), (place, len(sizes)), (place, "strided", bool(strides)),
                          (place, len(sizes), bool(strides), dtype), (place, "empty", "0" in sizes),
                          (place, "one", "1" in sizes), (place, "shared", "#" in rest),
                          (place, "offset", "+" in rest), (place, "host", bool(host))})
        elif isinstance(value, list):
            found.add((place, "length", len(value)))
            for i, element in enumerate(value[:4]):
                visit(element, (place, i if len(value) < 4 else "element"))
        else:
            found.add((place, str(value)[:12]))

    for i, argument in enumerate(record["args"]):
        visit(argument, i)
    return found


def most_different(lines, count):
    """Greedy cover: each choice has the most features that no chosen call has; short lines first.
    Half of the places at most go to calls that raise."""
    candidates = {line: features_of(line) for line in sorted(lines, key=lambda l: (len(l), l))}
    chosen, covered, raising = [], set(), 0
    while candidates and len(chosen) < count:
        line = max(candidates, key=lambda l: len(candidates[l] - covered))
        features = candidates.pop(line)
        if not features - covered:
            break
        if ("raises", True) in features:
            raising += 1
            if raising > count // 2:
                continue
        covered |= features
        chosen.append(line)
    return chosen
