"""The probes by name, and the record of one."""
import functools
import time

import torch

from ..machine import machine
from .attention import probe_attention_choice, probe_attention_scratch, probe_attention_scratch_cudnn
from .context import probe_context, probe_cublas
from .convolution import WITH_CONVOLUTIONS, probe_convolution, probe_convolutions_of, probe_trials_drawn, probe_trials_of
from .operators import probe_embedding, probe_index_put, probe_normalization, probe_reduction, probe_sort
from .recurrent import probe_recurrent, probe_recurrent_sizes

PROBES = {
    "context": probe_context,
    "cublas": probe_cublas,
    "attention_choice": probe_attention_choice,
    "attention_scratch": probe_attention_scratch,
    "attention_scratch_cudnn": probe_attention_scratch_cudnn,
    "convolution": probe_convolution,
    "normalization": probe_normalization,
    "recurrent": probe_recurrent,
    "embedding": probe_embedding,
    "index_put": probe_index_put,
    "sort": probe_sort,
    "reduction": probe_reduction,
    "recurrent_sizes": probe_recurrent_sizes,
    **{f"convolutions_{model}": functools.partial(probe_convolutions_of, model) for model in WITH_CONVOLUTIONS},
    **{f"trials_{model}": functools.partial(probe_trials_of, model) for model in WITH_CONVOLUTIONS},
    **{f"trials_drawn_{seed}": functools.partial(probe_trials_drawn, seed=seed) for seed in range(4)},
}
PROBE_SECONDS = 12


def record_probe(name, small, device, wait_for_device):
    wait_for_device()
    started = time.monotonic()
    torch.backends.cudnn.benchmark = False
    rows = PROBES[name](small, device)
    return {"probe": name, "small": small, "status": "ok", "machine": machine(device), "rows": rows,
            "seconds": round(time.monotonic() - started, 2)}, {}
