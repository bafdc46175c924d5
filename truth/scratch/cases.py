"""The calls of record.py: chosen ones by family, and PyTorch's operator database."""
import functools
import itertools

import index_cases
import layer_cases
import place_cases
import point_cases
import row_cases
import torch
import value_cases
from tensors import full, low

FAMILIES = [
    row_cases.reductions, row_cases.softmaxes, row_cases.normalizations, index_cases.indexing, index_cases.sorting, row_cases.losses, layer_cases.lists,
    index_cases.randoms, layer_cases.products, layer_cases.groups, layer_cases.attentions, layer_cases.masked_softmax, layer_cases.resampling, layer_cases.depthwise,
    value_cases.uniques, value_cases.medians, value_cases.searches, value_cases.draws, place_cases.lists_of_indices, place_cases.scattered, place_cases.segments, place_cases.embeddings,
    point_cases.distances, point_cases.margins, point_cases.unpooling, point_cases.batches, point_cases.sequences]


def survey():
    from torch.testing._internal.common_methods_invocations import op_db

    for entry, dtype in itertools.product(op_db, (full, low)):
        if dtype in entry.supported_dtypes("cuda"):
            yield f"{entry.name} {dtype}", functools.partial(run_samples, entry, dtype)


def run_samples(entry, dtype):
    for sample in entry.sample_inputs("cuda", dtype, requires_grad=entry.supports_autograd):
        result = entry(sample.input, *sample.args, **sample.kwargs)
        first = result[0] if isinstance(result, (tuple, list)) else result
        if isinstance(first, torch.Tensor) and first.requires_grad and first.dtype.is_floating_point:
            first.sum().backward()


def chosen():
    """(name, function) of every case; grouped by family."""
    for family in FAMILIES:
        for index, function in enumerate(family()):
            yield f"{family.__name__} {index}", function
