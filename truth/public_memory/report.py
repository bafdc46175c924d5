#!/usr/bin/env python3
"""The tables and the plot of docs/evaluation/public_memory.md, from predictions.csv.

Usage: report.py [--plot docs/evaluation/public_memory.svg]           (matplotlib for the plot)
"""
import argparse
import collections
import csv
import pathlib
import statistics

HERE = pathlib.Path(__file__).parent
# Rows that lengths are taken from are not judged (CALIBRATED_ON of peft_llm.py and fms.py).
CALIBRATED = {"peft-llm-lora--rank32", "fms-a_pf-orca-010", "fms-a_pf-orca-012", "fms-a_pf-orca-014", "fms-a_pf-orca-016"}
SOURCES = {"huggingface/peft": "PEFT", "foundation-model-stack/fms-acceleration": "fms-acceleration",
           "Lightning-AI/litgpt": "LitGPT", "meta-pytorch/torchtune": "torchtune"}


def source_of(line: dict[str, str]) -> str:
    name = SOURCES.get(line["source_repo"], line["source_repo"])
    if name == "PEFT":
        return "PEFT, language model" if "-llm-" in line["id"] else "PEFT, images"
    if name == "LitGPT":
        return "LitGPT, QLoRA" if "qlora" in line["id"] else "LitGPT, LoRA"
    return name


def judged(lines: list[dict[str, str]]) -> dict[tuple[str, str], list[dict[str, str]]]:
    """By source and figure."""
    found: dict[tuple[str, str], list[dict[str, str]]] = collections.defaultdict(list)
    for line in lines:
        if line["error"] and line["id"] not in CALIBRATED:
            found[source_of(line), line["figure"]].append(line)
    return found


def share(values: list[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def table(lines: list[dict[str, str]]) -> None:
    print("| source | figure | rows | median | 90th percentile | worst | its row |")
    print("| --- | --- | ---: | ---: | ---: | ---: | --- |")
    for (source, figure), of in judged(lines).items():
        errors = [abs(float(line["error"])) for line in of]
        worst = max(of, key=lambda line: abs(float(line["error"])))
        print(f"| {source} | {figure} | {len(of)} | {statistics.median(errors):.2%} | {share(errors, 0.9):.2%} "
              f"| {float(worst['error']):+.2%} | `{worst['id']}` |")
    verdicts = collections.Counter((verdict_of(line), line["predicted_fits"]) for line in {
        line["id"]: line for line in lines if line["predicted_fits"]}.values())
    print()
    for (measured, predicted), count in sorted(verdicts.items()):
        print(f"{measured}, predicted fits: {predicted}: {count} rows")


def verdict_of(line: dict[str, str]) -> str:
    measured = line["measured_verdict"]
    return "ran" if measured in ("no", "ran", "") else "out of memory" if measured == "yes" else "failed, cause not stored"


def plot(lines: list[dict[str, str]], path: pathlib.Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 6))
    by_source: dict[str, list[tuple[float, float]]] = collections.defaultdict(list)
    for (source, name), of in judged(lines).items():
        if name != "allocated_bytes":
            by_source[source] += [(float(line["measured_bytes"]) / 2**30, float(line["predicted_bytes"]) / 2**30) for line in of]
    for source, points in by_source.items():
        axes.plot([x for x, _ in points], [y for _, y in points], "o", markersize=4, alpha=0.7, label=source)
    ends = (3.2, 90)
    axes.plot(ends, ends, "k-", linewidth=0.7)
    axes.plot(ends, [1.05 * end for end in ends], "k:", linewidth=0.7, label="5 %")
    axes.plot(ends, [0.95 * end for end in ends], "k:", linewidth=0.7)
    axes.set(xscale="log", yscale="log", xlabel="measured, GiB", ylabel="predicted, GiB", xlim=ends, ylim=ends)
    ticks = [5, 10, 20, 40, 80]
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(matplotlib.ticker.FixedLocator(ticks))
        axis.set_major_formatter(matplotlib.ticker.FormatStrFormatter("%d"))
        axis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.legend()
    matplotlib.rcParams["svg.hashsalt"] = "symprof"
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None} if path.suffix == ".svg" else None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=pathlib.Path)
    options = parser.parse_args()
    lines = list(csv.DictReader((HERE / "predictions.csv").open()))
    table(lines)
    if options.plot:
        plot(lines, options.plot)


if __name__ == "__main__":
    main()
