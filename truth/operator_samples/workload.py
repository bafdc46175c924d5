"""What is run: the samples of torch.testing's databases, forward and backward.

A run is a function without arguments; its `device` decides where its tensors lie."""
import functools
import itertools

import torch
from torch.testing._internal import common_methods_invocations as methods
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db
from torch.utils._pytree import tree_leaves

# Samples of an operator: all in f32, as many of each other dtype, of each rearranged layout, and
# of the in-place and `out=` variants. They are ordered from plain to odd in the database.
FLOAT_SAMPLES, DTYPE_SAMPLES, LAYOUT_SAMPLES, VARIANT_SAMPLES, ERROR_SAMPLES = 20, 3, 3, 3, 12
OTHER_DTYPES = (torch.int64, torch.bfloat16, torch.complex64, torch.bool, torch.float64)

foreach_dbs = (methods.foreach_unary_op_db, methods.foreach_binary_op_db,
               methods.foreach_pointwise_op_db, methods.foreach_reduce_op_db,
               methods.foreach_other_op_db)


def channels_last(tensor):
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    if tensor.dim() not in formats:
        return tensor
    return tensor.contiguous(memory_format=formats[tensor.dim()])


def transposed(tensor):
    return tensor.mT.contiguous().mT if tensor.dim() > 1 else tensor


def is_moved(sample, transform):
    """Whether the transform changes any tensor's strides."""
    before = [t for t in tree_leaves((sample.input, sample.args)) if isinstance(t, torch.Tensor)]
    return any(transform(t.detach()).stride() != t.stride() for t in before)


def backward(result):
    tensors = [t for t in tree_leaves(result)
               if isinstance(t, torch.Tensor) and t.requires_grad and t.grad_fn is not None]
    if tensors:
        torch.autograd.backward(tensors, [torch.ones_like(t) for t in tensors])


def forward_and_backward(function, sample):
    result = function(sample.input, *sample.args, **sample.kwargs)
    backward(sample.output_process_fn_grad(result) if sample.output_process_fn_grad else result)


def into_outputs(function, sample):
    """Once more, into tensors that are there already, of the right size."""
    with torch.no_grad():
        result = function(sample.input, *sample.args, **sample.kwargs)
        out = result if isinstance(result, torch.Tensor) else tuple(result)
        out = torch.empty_like(out) if isinstance(out, torch.Tensor) else tuple(
            torch.empty_like(t) for t in out)
        function(sample.input, *sample.args, **sample.kwargs, out=out)


def in_place(function, sample):
    with torch.no_grad():
        function(sample.input, *sample.args, **sample.kwargs)


def first(count, samples):
    return itertools.islice(samples, count)


def operator_runs(op):
    draw = functools.partial(op.sample_inputs, "cpu")
    dtypes = op.supported_dtypes("cpu")
    main = torch.float32 if torch.float32 in dtypes else next(iter(sorted(dtypes, key=str)))
    gradient = op.supports_autograd and main in op.supported_backward_dtypes("cpu")
    run = functools.partial(functools.partial, forward_and_backward, op.op)
    for sample in first(FLOAT_SAMPLES, draw(main, requires_grad=gradient)):
        yield run(sample)
    for dtype in OTHER_DTYPES:
        if dtype in dtypes and dtype != main:
            gradient = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
            for sample in first(DTYPE_SAMPLES, draw(dtype, requires_grad=gradient)):
                yield run(sample)
    for transform in (channels_last, transposed):
        movable = (s for s in draw(main, requires_grad=False) if is_moved(s, transform))
        for sample in first(LAYOUT_SAMPLES, movable):
            sample = sample.transform(transform)
            if op.supports_autograd and isinstance(sample.input, torch.Tensor):
                sample.input = sample.input.detach().requires_grad_(main.is_floating_point)
            yield run(sample)
    for sample in first(LAYOUT_SAMPLES, draw(main, requires_grad=False)):
        yield run(sample.noncontiguous())
    if op.supports_out:
        for sample in first(VARIANT_SAMPLES, draw(main, requires_grad=False)):
            yield functools.partial(into_outputs, op.op, sample)
    if op.inplace_variant is not None:
        for sample in first(VARIANT_SAMPLES, draw(main, requires_grad=False)):
            yield functools.partial(in_place, op.inplace_variant, sample)


def foreach_runs(op):
    for sample in first(FLOAT_SAMPLES, op.sample_inputs("cpu", torch.float32)):
        for function in (op.method_variant, op.inplace_variant):
            if function is not None:
                yield functools.partial(in_place, function, sample)


def error_runs(op):
    if op.error_inputs_func is None:
        return
    for error in first(ERROR_SAMPLES, op.error_inputs("cpu")):
        sample = error.sample_input
        yield functools.partial(in_place, op.op, sample)


def module_runs(info):
    for training in (True, False):
        inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32,
                                         requires_grad=True, training=training)
        for given in first(6, inputs):
            if given.forward_input is None:
                continue

            def run(given=given, training=training):
                made = given.constructor_input
                module = info.module_cls(*made.args, **made.kwargs).train(training)
                backward(module(*given.forward_input.args, **given.forward_input.kwargs))

            yield run


def optimizer_runs(info):
    """Two steps, as one kernel for each tensor, one for all, and one for the whole step."""
    for flags, given in itertools.product(({}, {"foreach": True}, {"fused": True}),
                                          info.optim_inputs_func(device="cpu")):

        def run(flags=flags, given=given):
            parameters = [torch.nn.Parameter(torch.ones(2, 3)), torch.nn.Parameter(torch.ones(4))]
            optimizer = info.optim_cls(parameters, **{**given.kwargs, **flags})
            for _ in range(2):
                for parameter in parameters:
                    parameter.grad = torch.ones_like(parameter)
                optimizer.step()

        yield run


def sources():
    """(name, function that yields runs) of everything."""
    for op in methods.op_db:
        yield op.formatted_name, functools.partial(operator_runs, op)
        yield op.formatted_name + " errors", functools.partial(error_runs, op)
    for op in itertools.chain(*foreach_dbs):
        yield op.name, functools.partial(foreach_runs, op)
    for info in module_db:
        yield info.name, functools.partial(module_runs, info)
    for info in optim_db:
        yield info.optim_cls.__name__, functools.partial(optimizer_runs, info)
