#!/usr/bin/env python3
"""What times of one kernel on one kind of GPU differ by between two people: their boards, drivers, libraries, ways to time.

    python scripts/time/campaigns.py DATA [--write] [--program build/release/bin/symprof_time_rows]

All pairs of public campaigns on one GPU with rows of the same sizes. Nine of ten rows differ by no more than the half width
of their pair; a class has the mean of its GPUs' (a GPU's pairs count as their mean). --write puts it into
devices/time/data_sheet.json, from where it widens each interval of times that were not measured on the user's own board.
Prints tables for docs/evaluation/time.md: the pairs, and how many rows of other campaigns lie in the interval of a
calibrated device, which is widened there by the other GPUs' pairs alone. numpy, scipy and pandas are needed."""
import argparse
import itertools
import json
import pathlib
import tempfile

import numpy
import pandas

import fit
import sources

SHORTEST = 20  # Microseconds: vidur's have a resolution of 1.
SHEET = fit.ROOT / "devices" / "time" / "data_sheet.json"
ATTENTION = ["causal", "batch", "seq", "heads", "kv_heads", "head_dim"]
# Kernels of one kind: flash-attention 2 on A100, those written for Hopper there.
OF_ONE_KIND = {"A100-SXM-80GB": {"flash_attention", "vllm_flash_attn"},
               "H100-SXM-80GB": {"fa3", "vllm_flash_attn", "vllm_flash_attn_fa3", "flash_attention_v3", "vllm_vit_flash_attn_fa3"},
               "H200-SXM-141GB": {"fa3", "vllm_flash_attn_fa3", "flash_attention_v3", "vllm_vit_flash_attn_fa3"}}
VIDUR = {"A100-80GB": "a100-80g", "H100-80GB": "h100"}


def vidur_rows(data, gpu):
    table = pandas.read_csv(data / "ops_vidur_llm_fp16.csv")
    one = table[(table.gpu == gpu) & (table.op == "linear") & (table.us_median >= SHORTEST)]
    return one.groupby(["m", "n", "k"], as_index=False).us_median.median()


def linear_pairs(data):
    table = pandas.read_csv(data / "ops_linear_bf16_aic.csv")
    for gpu, device in VIDUR.items():
        one = table[table.gpu.map(sources.AIC) == device].merge(vidur_rows(data, gpu), on=["m", "n", "k"])
        yield "product_16bit", device, "aiconfigurator, vidur", numpy.log(one.us_median_y / one.us_median_x)


def attention_pairs(data):
    table = pandas.read_csv(data / "ops_attention_bf16_aic.csv")
    for gpu, kernels in OF_ONE_KIND.items():
        one = table[(table.gpu == gpu) & table.kernel.isin(kernels)]
        us = one.pivot_table(index=ATTENTION, columns="run", values="us", aggfunc="median")
        for first, second in itertools.combinations(us.columns, 2):
            logs = numpy.log(us[second] / us[first]).dropna()
            if len(logs) >= 20:
                time_class = "attention_flash" if gpu.startswith("A100") else "attention_newer"
                yield time_class, sources.AIC[gpu], f"{first}, {second}", logs


def fp32_pairs(data):
    """Sessions of NeuSight: rows of nearly the same sizes that ran in the same kernel (judge.py)."""
    from judge import OCTAVES_OF_PAIR, SHORTEST_OF_PAIR
    from scipy.spatial import cKDTree
    table = pandas.read_csv(data / "ops_neusight_matmul_fp32.csv")
    for gpu, device in sources.NEUSIGHT.items():
        one = table[(table.gpu == gpu) & (table.us > SHORTEST_OF_PAIR)].reset_index(drop=True)
        sizes = one[["batch", "m", "n", "k"]].to_numpy(dtype=float)
        near = cKDTree(numpy.log2(sizes)).query_pairs(OCTAVES_OF_PAIR, output_type="ndarray")
        first, second = near.T
        both = (one.split.to_numpy()[first] != one.split.to_numpy()[second]) & (one.kernel.to_numpy()[first] == one.kernel.to_numpy()[second])
        per_flop = numpy.log(one.us / sizes.prod(axis=1)).to_numpy()
        if both.sum() >= 20:
            yield "product_fp32", device, "NeuSight's two sessions", pandas.Series((per_flop[first] - per_flop[second])[both])


def all_pairs(data):
    return [*linear_pairs(data), *attention_pairs(data), *fp32_pairs(data)]


# Where few pairs are: a class of kernels that the same units of the GPU limit.
SHARED = {"attention_flash": "attention", "attention_newer": "attention"}


def half_width_of(pairs, time_class, without=None):
    """The mean over GPUs of what nine of ten rows differ by; None if no GPU is left."""
    kind = SHARED.get(time_class, time_class)
    by_gpu = {}
    for one, device, _, logs in pairs:
        if SHARED.get(one, one) == kind and device != without:
            by_gpu.setdefault(device, []).append(float(logs.abs().quantile(0.9)))
    return round(float(numpy.mean([numpy.mean(values) for values in by_gpu.values()])), 3) if by_gpu else None


def write(pairs):
    classes = fit.read_classes(SHEET)
    for time_class in sorted({pair[0] for pair in pairs}):
        kind = SHARED.get(time_class, time_class)
        own = [pair for pair in pairs if SHARED.get(pair[0], pair[0]) == kind]
        classes[time_class]["campaigns"] = {
            "half_width": half_width_of(pairs, time_class), "rows": sum(len(pair[3]) for pair in own),
            "source": "; ".join(f"{device}: {what}" for _, device, what, _ in own)}
    SHEET.write_text(fit.compact(classes))


def sheet_with(time_class, half_width):
    """The data sheet's times of one class, with another difference between campaigns."""
    times = fit.read_classes(SHEET)[time_class]
    return {"classes": {time_class: {**times, "campaigns": {"half_width": half_width}}}}


def judged(program, rows, half_width):
    """(errors' logarithms, half widths) with the device's own file, for another board and campaign."""
    with tempfile.TemporaryDirectory() as folder:
        sheet = pathlib.Path(folder) / "sheet.json"
        sheet.write_text(json.dumps(sheet_with(rows.time_class, half_width)))
        times = fit.read_classes(SHEET.parent / f"{rows.device}.json")[rows.time_class]
        middle, _, high = fit.judge(program, rows, times, sheet)[0].T
    return numpy.log(rows.us / middle), numpy.log(high / middle)


def other_campaigns(data):
    """Rows of campaigns that no fit of the device saw."""
    for gpu, device in VIDUR.items():
        one = vidur_rows(data, gpu)
        yield sources.rows_of(device, "product_16bit", one[["m", "n", "k"]], one.us_median, "vidur")
    random = numpy.random.default_rng(23)
    for rows in itertools.chain(sources.aic_products(data), sources.aic_attention(data), sources.neusight_products(data)):
        if (rows.device, rows.time_class) in {(one[0], one[1]) for one in fit.RECORDED} | {("h200", "product_16bit")}:
            yield rows.part(numpy.sort(random.permutation(len(rows.us))[:4000]))
    table = pandas.read_csv(data / "ops_attention_bf16_aic.csv")
    one = table[(table.gpu == "A100-SXM-80GB") & (table.run == "vllm_0.14.0")]
    work = one[["batch", "heads", "kv_heads", "head_dim", "causal"]].assign(queries=one.seq, keys=one.seq)
    yield sources.rows_of("a100-80g", "attention_flash", work, one.us, "vLLM's campaign")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--program", default=fit.ROOT / "build" / "release" / "bin" / "symprof_time_rows")
    given = parser.parse_args()
    pairs = all_pairs(given.data)
    print("| class | device | campaigns | rows | differ: median | 90 % |\n| --- | --- | --- | ---: | ---: | ---: |")
    for time_class, device, what, logs in pairs:
        print(f"| {time_class} | {device} | {what} | {len(logs):,} | {100 * logs.abs().median():.0f} % | {100 * logs.abs().quantile(0.9):.0f} % |")
    if given.write:
        write(pairs)
    print("\n| device | class | campaign | rows | error | inside before | inside | ± width |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for rows in other_campaigns(given.data):
        half_width = half_width_of(pairs, rows.time_class, rows.device) or 0
        wrong, half = judged(given.program, rows, half_width)
        _, before = judged(given.program, rows, 0)
        off = 100 * abs(numpy.expm1(-wrong))
        print(f"| {rows.device} | {rows.time_class} | {rows.source} | {len(wrong):,} | {numpy.median(off):.1f} / {numpy.quantile(off, 0.9):.1f} | "
              f"{100 * numpy.mean(abs(wrong) <= before):.0f} % | {100 * numpy.mean(abs(wrong) <= half):.0f} % | {100 * numpy.median(half):.0f} % |", flush=True)


if __name__ == "__main__":
    main()
