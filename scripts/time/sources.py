"""The public measurements that kernel times are fitted on, as rows of the program's classes of kernels.

A folder of CSV files with the columns named below; README.md says which repository each comes from."""
import pathlib
from dataclasses import dataclass

import numpy
import pandas


@dataclass
class Rows:
    """Measured rows of one class of kernels on one device."""
    device: str  # Of devices/.
    time_class: str
    work: pandas.DataFrame  # Columns are those that evaluate_rows.cpp reads, whole numbers.
    us: numpy.ndarray
    source: str
    floor_is_host: bool = False  # Timed one call at a time: small rows are as long as the host needs.

    def part(self, places):
        return Rows(self.device, self.time_class, self.work.iloc[places], self.us[places], self.source,
                    self.floor_is_host)


AIC = {"A100-SXM-80GB": "a100-80g", "H100-SXM-80GB": "h100", "H200-SXM-141GB": "h200", "B200-SXM-180GB": "b200",
       "RTX-PRO-6000-BSE": "rtx-pro-6000"}
NEUSIGHT = {"A100-PCIe-40GB": "a100-40g-pcie", "A100-PCIe-80GB": "a100-80g-pcie", "H100-SXM-80GB": "h100",
            "V100-PCIe-32GB": "v100-32g-pcie", "T4": "t4"}

def rows_of(device, time_class, table, us, source, floor_is_host=False, **constant):
    work = table.assign(**constant).astype("int64")
    return Rows(device, time_class, work.reset_index(drop=True), numpy.asarray(us, dtype=float), source, floor_is_host)


def aic_products(folder):
    """Linear layers in CUDA graphs, each with six weights in turn."""
    table = pandas.read_csv(folder / "ops_linear_bf16_aic.csv")
    for gpu, device in AIC.items():
        one = table[table.gpu == gpu]
        yield rows_of(device, "product_16bit", one[["m", "n", "k"]], one.us_median,
                      "aiconfigurator's bf16 linear", weight_sets=6)


ALONG, MIXED, ACROSS = 0, 1, 2  # ProductLayout of profile/time/kernel.h


def session_clock(table):
    """Per cent of the clock of models' sizes and steps at which random sizes were measured: what the same kernels reach
    in large linear layers. 80 on T4, whose power ends at 70 W; where it is 89 (V100) or 96 (A100), a clock for each
    session brings rows no nearer."""
    large = table[(table.op == "linear_bias") & (2.0 * table.m * table.n * table.k > 3e10)
                  & (table[["m", "n", "k"]].min(axis=1) >= 512)]
    speed = (large.m * large.n * large.k / large.us).groupby(large.split).median()
    percent = round(100 * speed.get("train", speed["test"]) / speed["test"])
    return percent if percent < 85 else 100


def neusight_products(folder):
    table = pandas.read_csv(folder / "ops_neusight_matmul_fp32.csv")
    for gpu, device in NEUSIGHT.items():
        one = table[table.gpu == gpu]
        clock = numpy.where(one.split == "train", session_clock(one), 100)
        layout = numpy.where(one.op == "bmm", MIXED, ALONG)
        work = one[["batch", "m", "n", "k"]].assign(clock_percent=clock, layout=layout)
        yield rows_of(device, "product_fp32", work, one.us,
                      "NeuSight's fp32 bmm and linear", True, operand_bytes=4)


def deepbench_products(folder):
    table = pandas.read_csv(folder / "ops_deepbench_gemm.csv")
    for gpu, device in {"V100": "v100", "T4": "t4"}.items():
        one = table[(table.gpu == gpu) & (table.dtype == "fp16")]
        # In columns: without transposes a number's neighbor in A has the next m, in B the next k.
        layout = (one.trans_a == "N").astype(int) + (one.trans_b == "T")
        yield rows_of(device, "product_16bit", one[["m", "n", "k"]].assign(layout=layout), one.us, "DeepBench's fp16 GEMM")


def vidur_products(folder):
    table = pandas.read_csv(folder / "ops_vidur_llm_fp16.csv")
    one = table[(table.gpu == "A40") & (table.op == "linear") & (table.us_median >= 20)]
    yield rows_of("a40", "product_16bit", one[["m", "n", "k"]], one.us_median, "vidur's fp16 linear")


def neusight_streams(folder):
    """Element-wise operators read one or two tensors of fp32 and write one; norms and softmax go row by row."""
    table = pandas.read_csv(folder / "ops_neusight_vec_fp32.csv")
    numbers = table.rows * table.cols
    table = table.assign(bytes=4 * numbers * numpy.where(table.op.str.endswith("_tt"), 3, 2), length=table.cols)
    for gpu, device in NEUSIGHT.items():
        one = table[table.gpu == gpu]
        if one.empty:
            continue
        for time_class in ("layer_norm", "softmax"):
            of_class = one[one.op == time_class]
            yield rows_of(device, time_class, of_class[["rows", "length", "bytes"]], of_class.us,
                          "NeuSight's fp32 " + time_class, True)
        streams = one[~one.op.isin(["layer_norm", "softmax"])]
        yield rows_of(device, "elementwise", streams[["bytes"]], streams.us, "NeuSight's fp32 element-wise", True)


def neusight_convolutions(folder):
    table = pandas.read_csv(folder / "ops_neusight_conv_fp32.csv")
    for gpu, device in NEUSIGHT.items():
        one = table[table.gpu == gpu]
        if one.empty:
            continue
        out = (one.hw + 2 * one.pad - one.ksize) // one.stride + 1
        work = pandas.DataFrame({"batch": one.batch, "in_channels": one.cin, "out_channels": one.cout,
                                 "in": one.hw ** 2, "out": out ** 2, "window": one.ksize ** 2,
                                 "is_winograd": (one.ksize == 3) & (one.stride == 1)})
        yield rows_of(device, "convolution_fp32", work, one.us, "NeuSight's fp32 conv2d", True, number_bytes=4)


def deepbench_convolutions(folder):
    table = pandas.read_csv(folder / "ops_deepbench_conv.csv")
    for (gpu, device), dtype in [(pair, dtype) for pair in {"V100": "v100", "T4": "t4"}.items()
                                 for dtype in ("fp16",)]:
        one = table[(table.gpu == gpu) & (table.dtype == dtype)]
        height = (one.h + 2 * one.pad_h - one.kh) // one.stride_h + 1
        width = (one.w + 2 * one.pad_w - one.kw) // one.stride_w + 1
        work = pandas.DataFrame({"batch": one.n, "in_channels": one.cin, "out_channels": one.cout,
                                 "in": one.h * one.w, "out": height * width, "window": one.kh * one.kw})
        passes = [(0, one.us_fwd), (1, one.us_bwd_data), (2, one.us_bwd_weight)]
        both = pandas.concat([work.assign(**{"pass": place, "us": us}) for place, us in passes]).dropna()
        yield rows_of(device, "convolution_16bit", both.drop(columns="us"), both.us, "DeepBench's fp16 convolutions",
                      number_bytes=2)


GATES = {"vanilla": 1, "gru": 3, "lstm": 4}


def deepbench_recurrent(folder):
    """Steps of recurrent layers alone: DeepBench's descriptor skips the product with the input (CUDNN_SKIP_INPUT in
    code/nvidia/rnn_bench.cu)."""
    table = pandas.read_csv(folder / "ops_deepbench_rnn.csv")
    one = table[(table.gpu == "V100") & (table.dtype == "fp16")]
    work = one[["steps", "batch", "hidden"]].assign(gates=one.kind.map(GATES))
    both = pandas.concat([work.assign(backward=place, us=us) for place, us in enumerate([one.us_fwd, one.us_bwd_data])]).dropna()
    yield rows_of("v100", "recurrent_16bit", both.drop(columns="us"), both.us, "DeepBench's fp16 recurrent layers", number_bytes=2)


ATTENTION = [  # GPU, causal, kernel, class of kernels
    ("A100-SXM-80GB", 1, "flash_attention", "attention_flash"),
    ("RTX-PRO-6000-BSE", 1, "vllm_flash_attn_fa2", "attention_flash"),
    ("RTX-PRO-6000-BSE", 0, "vllm_vit_flash_attn_fa2", "attention_flash"),
    ("H100-SXM-80GB", 1, "fa3", "attention_newer"),
    ("H100-SXM-80GB", 0, "flash_attention_v3", "attention_newer"),
    ("H200-SXM-141GB", 1, "fa3", "attention_newer"),
    ("H200-SXM-141GB", 0, "flash_attention_v3", "attention_newer"),
    ("B200-SXM-180GB", 1, "vllm_flashinfer_trtllmprefill", "attention_newer"),
    ("B200-SXM-180GB", 0, "vllm_vit_flash_attn_fa4", "attention_newer"),
]


def aic_attention(folder):
    table = pandas.read_csv(folder / "ops_attention_bf16_aic.csv")
    for gpu in AIC:
        parts = [table[(table.gpu == gpu) & (table.causal == causal) & (table.kernel == kernel)]
                 for one, causal, kernel, _ in ATTENTION if one == gpu]
        both = pandas.concat(parts)
        work = both[["batch", "heads", "kv_heads", "head_dim", "causal"]].assign(queries=both.seq, keys=both.seq)
        time_class = next(row[3] for row in ATTENTION if row[0] == gpu)
        yield rows_of(AIC[gpu], time_class, work, both.us, "aiconfigurator's bf16 attention")


def all_rows(folder):
    folder = pathlib.Path(folder)
    for source in (aic_products, neusight_products, deepbench_products, vidur_products, neusight_streams,
                   neusight_convolutions, deepbench_convolutions, deepbench_recurrent, aic_attention):
        yield from source(folder)
