#!/usr/bin/env python3
"""Fits what collectives take beside NCCL's own formula, and judges it on rows that no fit saw.

    python scripts/time/fit_collectives.py [--program build/release/bin/symprof_time_rows] [--print]

truth/collectives/measured.csv has the rows (its README says whose they are). A curve is the logarithm of measured time
by NCCL's formula at every fourth size of a source's first campaign (powers of four), between which it is a straight
line. All else is judged: the sizes between them, the other campaigns, and the sources in JUDGED_ONLY, which are other
machines. A device of whose collectives only all-gathers were measured takes their curve for the others; where both are
known, that is judged too. PCIe without measurement takes the mean of the machines in OVER_PCIE, with what they differ by
as its interval; who knows how his GPUs reach each other takes the curves of the machine of that kind (NAMED). Writes the curves, `half_width` and `fitted_on` of devices/links/, and the tables in
docs/evaluation/collectives.md."""
import argparse
import collections
import csv
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MEASURED = ROOT / "truth" / "collectives" / "measured.csv"
COMPUTE = {"v100": 7, "a100-80g": 8, "h100": 9, "h200": 9, "b200": 10, "rtx-pro-6000": 12,
           "l40s": 8}
JUDGED_ONLY = {("a100-80g", "vtrain"), ("a100-80g", "vidur"), ("h100", "vidur")}
OVER_PCIE = ("l40s", "rtx-pro-6000")
UNMEASURED_PCIE = ("pcie3", "pcie4", "pcie5")
# Through host memory (NCCL's SHM transport), or from GPU to GPU: whose curves, relative to NCCL's estimate for the generation.
NAMED = {"host": "l40s", "peer": "rtx-pro-6000"}
OTHER_MACHINE = 0.25  # natural logarithm: switches, sockets and virtual machines differ.
LARGE = 1 << 20
START, END = "<!-- collectives -->\n", "<!-- end of collectives -->\n"
BORROWED_START, BORROWED_END = "<!-- borrowed -->\n", "<!-- end of borrowed -->\n"


def read_rows():
    with open(MEASURED) as file:
        return [row | {"bytes": int(row["bytes"]), "ranks": int(row["ranks"]), "nodes": int(row["nodes"]),
                       "us": float(row["us"])} for row in csv.DictReader(file)]


def is_fitted(row):
    """Powers of four; vTrain's sizes are whole MiB."""
    if (row["device"], row["source"]) in JUDGED_ONLY:
        return False
    logarithm = math.log2(row["bytes"])
    return logarithm == int(logarithm) and int(logarithm) % 2 == 0


def ask(program, device, rows, links=None):
    """The program's answers: µs, low, high, and NCCL's own, of each row. `links`: another file than the device's."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("kind,bytes,ranks,nodes\n")
        for row in rows:
            file.write(f"{row['kind']},{row['bytes']},{row['ranks']},{row['nodes']}\n")
        file.flush()
        text = subprocess.run([program, "collectives", str(links or links_of(device)), str(COMPUTE[device]), file.name],
                              capture_output=True, text=True, check=True).stdout
    return [{key: float(one[key]) for key in ("us", "low", "high", "nccl_us")} for one in
            csv.DictReader(text.splitlines())]


def links_of(device):
    return ROOT / "devices" / "links" / (json.loads((ROOT / "devices" / f"{device}.json").read_text())["links"].split("/")[1])


def curves(program, device, rows):
    fitted = [row for row in rows if is_fitted(row)]
    groups = collections.defaultdict(list)
    for row, answer in zip(fitted, ask(program, device, fitted)):
        key = row["kind"], row["nodes"], row["ranks"]
        groups[key].append((math.log2(row["bytes"]), math.log(row["us"] / answer["nccl_us"])))
    for (kind, nodes, ranks), points in sorted(groups.items()):
        by_size = collections.defaultdict(list)
        for size, value in points:
            by_size[size].append(value)
        yield {"kind": kind, "ranks": ranks, "nodes": nodes,
               "points": [[size, round(statistics.median(values), 4)] for size, values in sorted(by_size.items())]}


def write_links(path, document, key="measured"):
    """A line for each curve."""
    measured = document.pop(key)
    text = json.dumps(document, indent=2)[:-2] + f",\n  \"{key}\": [\n"
    text += ",\n".join("    " + json.dumps(one) for one in measured) + "\n  ]\n}\n"
    document[key] = measured
    path.write_text(text)


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def fit(program, device, rows):
    path = links_of(device)
    document = json.loads(path.read_text())
    document.pop("measured", None)
    path.write_text(json.dumps(document | {"measured": []}))
    document["measured"] = list(curves(program, device, rows))
    sources = sorted({row["source"] for row in rows if is_fitted(row)})
    document["fitted_on"] = "powers of four of " + ", ".join(sources) + " in truth/collectives"
    write_links(path, document)
    unseen = [row for row in rows if not is_fitted(row) and row["bytes"] > LARGE / 4]
    errors = [abs(math.log(answer["us"] / row["us"])) for row, answer in zip(unseen, ask(program, device, unseen))]
    document["half_width"] = round(quantile(errors, 0.9), 3)
    write_links(path, document)


def judge(program, device, rows):
    unseen = [row for row in rows if not is_fitted(row) and row["bytes"] > LARGE]
    answers = ask(program, device, unseen)
    groups = collections.defaultdict(list)
    for row, answer in zip(unseen, answers):
        groups[row["kind"], row["source"]].append((row["us"], answer))
    for (kind, source), pairs in sorted(groups.items()):
        errors = [100 * abs(answer["us"] / us - 1) for us, answer in pairs]
        bare = [100 * abs(answer["nccl_us"] / us - 1) for us, answer in pairs]
        within = sum(answer["low"] <= us <= answer["high"] for us, answer in pairs) / len(pairs)
        yield (f"| {device} | {kind} | {source} | {len(pairs)} | {statistics.median(errors):.1f} / "
               f"{quantile(errors, 0.9):.1f} | {statistics.median(bare):.1f} / {quantile(bare, 0.9):.1f} | "
               f"{100 * within:.0f} % |")


def borrowed_errors(program, device, rows):
    """By kind: logarithms of prediction by measurement where the all-gathers' curves stand for the kind."""
    document = json.loads(links_of(device).read_text())
    document["measured"] = [one for one in document["measured"] if one["kind"] == "all_gather"]
    others = [row for row in rows if row["kind"] not in ("all_gather", "send_receive") and row["nodes"] == 1
              and row["bytes"] > LARGE]
    errors = collections.defaultdict(list)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        for row, answer in zip(others, ask(program, device, others, file.name)):
            errors[row["kind"]].append(math.log(answer["us"] / row["us"]))
    return errors


def judge_borrowed(program, by_device):
    everything = []
    for device, rows in by_device.items():
        if not any(row["kind"] == "all_gather" for row in rows):
            continue
        for kind, errors in sorted(borrowed_errors(program, device, rows).items()):
            sizes = [abs(error) for error in errors]
            everything += sizes
            yield (f"| {device} | {kind} | {len(errors)} | {100 * (math.exp(statistics.median(errors)) - 1):+.1f} | "
                   f"{100 * (math.exp(statistics.median(sizes)) - 1):.1f} / "
                   f"{100 * (math.exp(quantile(sizes, 0.9)) - 1):.1f} |")
    yield f"| all | | {len(everything)} | | 90 % within a factor of e^{quantile(everything, 0.9):.2f} |"


def fit_unmeasured_pcie():
    """All-gathers over PCIe on machines that nobody measured: between the two that are known."""
    known = [[one for one in json.loads(links_of(device).read_text())["measured"] if one["kind"] == "all_gather"]
             for device in OVER_PCIE]
    found = []
    for both in zip(*known):
        assert len({one["ranks"] for one in both}) == 1
        factors = list(zip(*[[factor for _, factor in one["points"]] for one in both]))
        found.append({"kind": "all_gather", "ranks": both[0]["ranks"], "nodes": 1,
                      "half_width": round(0.25 + max(max(pair) - min(pair) for pair in factors) / 2, 2),
                      "points": [[size, round(statistics.mean(pair), 2)]
                                 for (size, _), pair in zip(both[0]["points"], factors)]})
    for name in UNMEASURED_PCIE:
        path = ROOT / "devices" / "links" / f"{name}.json"
        document = json.loads(path.read_text())
        document.pop("measured_elsewhere", None)
        document["fitted_on"] = "the all-gathers of " + " and ".join(OVER_PCIE) + " in truth/collectives"
        document["measured_elsewhere"] = found
        write_links(path, document, "measured_elsewhere")


def fit_named():
    for name in UNMEASURED_PCIE:
        links = json.loads((ROOT / "devices" / "links" / f"{name}.json").read_text())
        for way, device in NAMED.items():
            known = json.loads(links_of(device).read_text())
            half_width = round(known["half_width"] + OTHER_MACHINE, 3)
            document = links | {"fitted_on": f"{known['fitted_on']}, of {device}"}
            document["measured_elsewhere"] = [{**one, "half_width": half_width} for one in known["measured"]]
            write_links(ROOT / "devices" / "links" / f"{name}-{way}.json", document, "measured_elsewhere")


def write_table(page, start, end, lines):
    before, _, rest = page.read_text().partition(start)
    page.write_text(before + start + "\n".join(lines) + "\n" + end + rest.partition(end)[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "release" / "bin" / "symprof_time_rows"))
    parser.add_argument("--print", action="store_true", help="judge what is there; write nothing")
    given = parser.parse_args()
    lines = []
    by_device = collections.defaultdict(list)
    for row in read_rows():
        by_device[row["device"]].append(row)
    for device, rows in by_device.items():
        if not given.print:
            fit(given.program, device, rows)
        lines += judge(given.program, device, rows)
    borrowed = list(judge_borrowed(given.program, by_device))
    if given.print:
        print("\n".join(lines + borrowed))
        return
    fit_unmeasured_pcie()
    fit_named()
    page = ROOT / "docs/evaluation/collectives.md"
    write_table(page, START, END, [
        "| device | collective | source | rows | error | NCCL's formula alone | within |",
        "| --- | --- | --- | --- | --- | --- | --- |", *lines])
    write_table(page, BORROWED_START, BORROWED_END, [
        "| device | collective | rows | error, median | size of the error |",
        "| --- | --- | --- | --- | --- |", *borrowed])


if __name__ == "__main__":
    main()
