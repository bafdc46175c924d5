"""Where a GPU answers otherwise than the CPU, and what runs on one side only."""
import functools
import itertools
import pathlib

import torch
import torchgen
import yaml
from torch.testing._internal.common_modules import module_db

import fake_device
import workload

# Their CUDA kernels lay outputs out otherwise, or take another dtype for statistics. The truth is
# PyTorch's shape function for CUDA tensors (torch/_meta_registrations.py, torch/_decomp).
DIFFERS_ON_CUDA = {
    # Statistics in f32 beside bf16, and saved in evaluation too (native/cuda/Normalization.cu).
    "aten::_batch_norm_with_update",
    "aten::_native_batch_norm_legit",
    "aten::_native_batch_norm_legit.out",
    "aten::native_batch_norm",
    "aten::native_batch_norm.out",
    "aten::native_layer_norm",
    # Bags and maxima are allocated whether needed or not (native/cuda/EmbeddingBag.cu).
    "aten::_embedding_bag",
    "aten::_embedding_bag_forward_only",
    # cuFFT's order of dimensions (native/cuda/SpectralOps.cpp), cuSOLVER's of V.
    "aten::_fft_r2c",
    "aten::_linalg_svd",
    # No buffer for backward (native/cuda/ActivationLogSigmoidKernel.cu).
    "aten::log_sigmoid_forward",
    "aten::log_sigmoid_forward.output",
    # Column by column (native/cuda/Nonzero.cu).
    "aten::nonzero_static",
    # Channels last is kept on the CPU only (native/cuda/ReflectionPad.cu, ReplicationPadding.cu).
    "aten::reflection_pad2d_backward",
    "aten::reflection_pad3d",
    "aten::reflection_pad3d_backward",
    "aten::replication_pad2d_backward",
    "aten::replication_pad3d",
    "aten::replication_pad3d_backward",
}

# Tagged as depending on data, which they do with other arguments than these: lengths as lists, and
# the one driver of CUDA, which assumes full rank.
KNOWN_SIZES = {"aten::_ctc_loss", "aten::linalg_lstsq", "aten::linalg_lstsq.out"}

SAMPLES_ON_DEVICE = 8
DTYPES_ON_DEVICE = (torch.float32, torch.bfloat16)


@functools.cache
def dispatch_tables():
    """Operator -> the dispatch keys of its kernels (native_functions.yaml)."""
    path = pathlib.Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    tables = {}
    for entry in yaml.safe_load(path.read_text()):
        name = "aten::" + entry["func"].split("(")[0]
        keys = [key.strip() for keys in entry.get("dispatch", {}) for key in keys.split(",")]
        tables[name] = set(keys)
    return tables


def takes(record):
    """False for a call that a GPU refuses: other drivers of least squares."""
    return "lstsq" not in record["op"] or record["args"][3:4] == ["gels"]


def runs_on_cuda(op):
    """False for kernels that exist for the CPU alone (mkldnn, fbgemm, `_for_cpu`)."""
    keys = dispatch_tables().get(op)
    return not keys or any("CUDA" in k or "Composite" in k for k in keys) or not any(
        k in ("CPU", "MkldnnCPU", "QuantizedCPU") for k in keys)


def operator_runs(op):
    for dtype in DTYPES_ON_DEVICE:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        samples = op.sample_inputs("cpu", dtype, requires_grad=op.supports_autograd)
        for sample in itertools.islice(samples, SAMPLES_ON_DEVICE):
            yield functools.partial(run_on_device, op, sample)


def run_on_device(op, sample):
    sample.input = fake_device.moved(sample.input)
    sample.args = fake_device.moved(sample.args)
    sample.kwargs = fake_device.moved(sample.kwargs)
    workload.forward_and_backward(op.op, sample)


def module_runs(info):
    for training in (True, False):
        inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32,
                                         requires_grad=True, training=training)
        for given in itertools.islice(inputs, 4):
            if given.forward_input is not None:
                yield functools.partial(run_module, info, given, training)


def run_module(info, given, training):
    made = given.constructor_input
    with torch.device("cuda", 0):
        module = info.module_cls(*made.args, **fake_device.moved(made.kwargs)).train(training)
    forward = given.forward_input
    workload.backward(module(*fake_device.moved(forward.args), **fake_device.moved(forward.kwargs)))


FLASH, EFFICIENT, CUDNN = 1, 2, 3


def attention(query_sizes, dtype, masked, transposed):
    """Fused attention, which the database's samples are too small for; backward too."""
    batch, heads, length, width = query_sizes
    sizes = (batch, length, heads, width) if transposed else query_sizes
    q, k, v = (torch.empty(sizes, dtype=dtype, device="cuda", requires_grad=True)
               for _ in range(3))
    if transposed:
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
    mask = torch.empty(batch, heads, length, length, dtype=dtype, device="cuda") if masked else None
    workload.backward(torch.nn.functional.scaled_dot_product_attention(q, k, v, mask))


def attention_runs(force_attention):
    cases = itertools.product(((2, 3, 24, 16), (1, 2, 33, 64)), (False, True), (False, True))
    for sizes, masked, transposed in cases:
        for backend, dtype in ((FLASH, torch.bfloat16), (EFFICIENT, torch.bfloat16),
                               (EFFICIENT, torch.float32), (CUDNN, torch.bfloat16)):
            if masked and backend == FLASH:
                continue

            def run(backend=backend, given=(sizes, dtype, masked, transposed)):
                force_attention(backend)
                attention(*given)

            yield run
    force_attention(-1)


def direct_attention_runs():
    """The kernels by their own names: [B, L, H, D], or packed sequences."""
    ops = torch.ops.aten

    def heads(*sizes):
        return [torch.empty(sizes, dtype=torch.bfloat16, device="cuda", requires_grad=True)
                for _ in range(3)]

    def ends():
        return torch.empty(3, dtype=torch.int32, device="cuda")

    yield lambda: workload.backward(ops._flash_attention_forward(
        *heads(2, 24, 3, 16), None, None, 24, 24, 0.0, True, False))
    yield lambda: workload.backward(ops._flash_attention_forward(
        *heads(40, 3, 16), ends(), ends(), 24, 24, 0.0, False, False))
    yield lambda: workload.backward(ops._efficient_attention_forward(
        *heads(2, 24, 3, 16), None, None, None, 24, 24, 0.0, 0, True))
    yield lambda: workload.backward(ops._efficient_attention_forward(
        *heads(1, 40, 3, 16), None, ends(), ends(), 24, 24, 0.0, 1, True))


def sources(force_attention):
    yield "fused attention", functools.partial(attention_runs, force_attention)
    yield "direct attention", direct_attention_runs
    for op in workload.methods.op_db:
        yield op.formatted_name, functools.partial(operator_runs, op)
    for info in module_db:
        yield info.name, functools.partial(module_runs, info)
