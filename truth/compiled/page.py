#!/usr/bin/env python3
"""Writes docs/evaluation/compiled.md of what compare.py found.

    python3 truth/compiled/compare.py --all --json > ROWS; python3 truth/compiled/page.py ROWS
"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/evaluation/compiled.md"
WORDS = """# Compiled training steps

Each case below is a training step under `torch.compile`, named by model, precision, option and optimizer (`truth/compiled/`). It ran
twice: in a simulation, and in PyTorch 2.13's CUDA build with Triton on a stub CUDA driver, whose caching allocator is the real one.
Models, options and steps are the same: four steps, the one that counts, and two more after `torch.cuda.empty_cache()`.

*Saved* are bytes that autograd keeps between forward and backward. *Kernels* are Triton's and products of matrices, by name and in
order. *Requested* is the peak of bytes that were asked for, *peak* that of allocated bytes, *reserved* that of the caching allocator;
*reserved, emptied* is the last step's. Eager cases of the same models have no kernels to compare. cuDNN on the stub driver asks for no
workspaces of convolutions, so the simulated H200 has none here, either (`truth/scripts/device.py`). `truth/compiled/records` has a few
more cases, of backends that are not compared.

"""
COLUMNS = ("case", "saved bytes", "kernels", "requested", "peak", "reserved", "reserved, emptied")
NOTES = """
(1) The record has what autotuning of Triton's kernels left in the allocator's cache: copies of what a kernel changes, and a buffer to
flush the L2 cache. Its first step shows them: its forward pass has a higher peak than what it keeps. Which kernels are timed depends
on the caches of earlier runs; here none is.

(2) Seeds of attention in fp32, six numbers on the host; the record counts what is on the GPU.

(3) The record counts what recomputed regions keep in backward, too.
"""
CAUSES = {
    "bert-fp32-default-foreach": "(1) (2)",
    "bert-fp32-eager-foreach": "(2)",
    "bert-autocast-eager_checkpoint-foreach": "(3)",
    "gpt-autocast-default-foreach-a100": "(1)",
    "gpt-autocast-dynamic-foreach": "(1)",
    "gpt-autocast-eager_checkpoint-foreach": "(3)",
    "gpt-fp32-default-foreach": "(1) (2)",
    "gpt-fp32-eager-foreach": "(2)",
    "llama-bf16-eager_checkpoint-foreach": "(3)",
    "mlp-autocast-default-foreach": "(1)",
    "mlp-fp32-default-foreach": "(1)",
}


def percent(value):
    return "equal" if value == 0 else f"{value:+.2f} %"


def cells(row):
    saved, kernels = row["saved_difference"], f"{row['kernels']} of {row['kernels_theirs']}"
    requested = row["requested_difference"]
    note = f" {CAUSES[row['case']]}" if row["case"] in CAUSES else ""
    return (row["case"], f"{row['saved']:,}" + (f" ({saved:+,})" if saved else ""),
            "" if row["eager"] else (f"{row['kernels']}" if row["same_kernels"] else f"{kernels}, other order" if row["kernels"] == row["kernels_theirs"] else kernels),
            "equal" if requested == 0 else f"{requested:+,}", percent(row["peak_percent"]), percent(row["reserved_percent"]) + note,
            percent(row["clean_percent"]))


def counts(rows):
    """Of compiled cases."""
    rows = [row for row in rows if not row["eager"]]
    found = (("saved bytes equal", lambda row: row["saved_difference"] == 0), ("kernels equal in number and order", lambda row: row["same_kernels"]),
             ("requested peak equal", lambda row: row["requested_difference"] == 0),
             ("requested peak within 0.5 %", lambda row: abs(row["requested_percent"]) <= 0.5),
             ("reserved within 2 %", lambda row: abs(row["reserved_percent"]) <= 2),
             ("reserved within 2 %, cache emptied", lambda row: abs(row["clean_percent"]) <= 2))
    lines = [f"| {name} | {sum(map(is_one, rows))} of {len(rows)} |" for name, is_one in found]
    return ["| compiled cases | |", "| --- | --- |", *lines, ""]


def main():
    rows = sorted((json.loads(line) for path in sys.argv[1:] for line in pathlib.Path(path).read_text().splitlines() if line.startswith("{")),
                  key=lambda row: (row["eager"], row["case"]))
    table = [f"| {' | '.join(COLUMNS)} |", f"| {' | '.join('---' for _ in COLUMNS)} |", *(f"| {' | '.join(cells(row))} |" for row in rows)]
    PAGE.write_text(WORDS + "\n".join([*counts(rows), *table]) + "\n" + NOTES)


if __name__ == "__main__":
    main()
