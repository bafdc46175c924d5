"""Makes the committed files: the rows of every command's folder as compressed columns."""
import json
import pathlib

from kernels import storage
from kernels.steps_table import Strings

SPREADS = ("median", "low_quartile", "high_quartile", "least", "most")


def point_row(row, strings):
    """One row of the table `points`; texts are numbers into `strings`."""
    packed = {"key": row["key"], "family": strings.number(row["family"]),
              "operation": strings.number(row["operation"]),
              "parameters": json.dumps(row["parameters"], sort_keys=True),
              "cache": strings.number(row["cache"]), "repetition": row["repetition"],
              "flops": row["flops"], "bytes_moved": row["bytes_moved"],
              "error": strings.number(row["error"]), "repeats": row["repeats"],
              "sequences": row["sequences"], "kernels": len(row["kernels"])}
    packed.update({f"kernel_ns_{name}": row["kernel_ns"][name] for name in SPREADS})
    packed.update({name: row.get(name) for name in ("busy_ns", "span_ns", "requests", "transient_bytes", "kept_bytes",
                                                    "alone_ns", "alone_host_ns")})
    packed["cpu_ns_median"] = row["cpu_ns"]["median"]
    packed.update({f"{when}_{name}": row[f"clocks_{when}"][name] for when in ("before", "after")
                   for name in ("sm_mhz", "memory_mhz", "temperature_c", "power_w")})
    return packed


def kernel_row(place, kernel, strings):
    return {**kernel, "point": place, "kind": strings.number(kernel["kind"]),
            "name": strings.number(kernel["name"]),
            "grid": strings.number(json.dumps(kernel["grid"])),
            "block": strings.number(json.dumps(kernel["block"]))}


def operators_document(rows):
    unique = list({row["key"]: row for row in rows}.values())
    strings = Strings()
    points = [point_row(row, strings) for row in unique]
    kernels = [kernel_row(place, kernel, strings)
               for place, row in enumerate(unique) for kernel in row["kernels"]]
    return {"points": storage.columns(points), "kernels": storage.columns(kernels),
            "strings": strings.texts}


def machines(folders):
    found = [pathlib.Path(folder) / "machine.json" for folder in folders]
    return [json.loads(path.read_text()) for path in found if path.exists()]


def pack(target, folders):
    """Writes operators, steps and device; gives a line about each file."""
    target = pathlib.Path(target)
    target.mkdir(parents=True, exist_ok=True)
    steps = {row["model"]: row for row in storage.rows_in(folders, "steps.jsonl.gz")}
    documents = {"operators": operators_document(storage.rows_in(folders, "operators.jsonl.gz")),
                 "steps": {"models": list(steps.values())},
                 "device": {"runs": storage.rows_in(folders, "device.jsonl.gz")}}
    lines = []
    for name, document in documents.items():
        path = target / f"{name}.json.gz"
        storage.write_document(path, {**document, "machines": machines(folders)})
        lines.append(f"{path}: {path.stat().st_size} bytes")
    return lines
