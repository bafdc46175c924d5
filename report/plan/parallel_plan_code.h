// The Python code that is the same in every file of a plan (parallel_plan_python.cpp): it reads the
// constants that come before it.
#pragma once

#include <string_view>

namespace symprof::report::plan_code {

inline constexpr std::string_view head = R"(import torch
import torch.distributed as dist
from torch.distributed._composable import checkpoint
from torch.distributed._composable.replicate_with_fsdp import replicate
from torch.distributed._functional_collectives import all_to_all_single, all_to_all_single_autograd, wait_tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import SplitPoint, pipeline
from torch.distributed.pipelining.schedules import get_schedule_class
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel
from torch.overrides import TorchFunctionMode

)";

inline constexpr std::string_view mesh_code = R"(

def make_mesh(device_type="cuda"):
    """The mesh of the plan; torchrun's variables say who is where."""
    mesh = init_device_mesh(device_type, (PIPELINE, COPIES, SHARDS, TENSOR),
                            mesh_dim_names=("pipeline", "copies", "shards", "tensor"))
    if device_type == "cuda":
        torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    return mesh


def local_share(batch, mesh):
    """This rank's samples of a tensor that holds those of all."""
    place = mesh["copies"].get_local_rank() * SHARDS + mesh["shards"].get_local_rank()
    return batch.chunk(COPIES * SHARDS)[place]


def _there(model, names):
    """Those modules that a stage of a pipeline has; else all."""
    modules = dict(model.named_modules())
    return [name for name in names if name in modules]


)";

inline constexpr std::string_view tensor_code = R"(def _first_tensor(args, kwargs, change):
    args, kwargs = list(args), dict(kwargs)
    for place, value in enumerate(args):
        if isinstance(value, torch.Tensor):
            args[place] = change(value)
            return tuple(args), kwargs
    for name, value in kwargs.items():
        if isinstance(value, torch.Tensor):
            kwargs[name] = change(value)
            break
    return tuple(args), kwargs


def _tokens_shared(mesh):
    """Tokens (dimension 1) from all of them to this rank's share."""
    def change(value):
        if getattr(value, "is_share_of_tokens", False):  # A checkpoint runs the block again.
            return value
        value = DTensor.from_local(value, mesh, [Replicate()], run_check=False).redistribute(placements=[Shard(1)]).to_local()
        value.is_share_of_tokens = True
        return value
    return change


def _tokens_gathered(mesh):
    def change(value):
        if not isinstance(value, DTensor):
            value = DTensor.from_local(value, mesh, [Shard(1)], run_check=False)
        return value.redistribute(placements=[Replicate()])
    return change


def _share_tokens(model, mesh):
    gathered = _tokens_gathered(mesh)
    for name in _there(model, GATHERING):
        model.get_submodule(name).register_forward_pre_hook(
            lambda module, args, kwargs: _first_tensor(args, kwargs, gathered), with_kwargs=True)
    shared, blocks = _tokens_shared(mesh), _there(model, BLOCKS)
    model.get_submodule(blocks[0]).register_forward_pre_hook(
        lambda module, args, kwargs: _first_tensor(args, kwargs, shared), with_kwargs=True)
    def whole(module, args, output):
        output = gathered(output).to_local()
        return output.clone() if PIPELINE > 1 else output  # Schedules detach what a stage sends, which no view allows.
    model.get_submodule(blocks[-1]).register_forward_hook(whole)
    parallelize_module(model, mesh,
                       {name: SequenceParallel(use_local_output=True) for name in _there(model, TOKEN_MODULES)})


def _join_gradients(model, mesh):
    """What several column layers read is one DTensor, whose gradients are added before they are summed over the ranks."""
    def change(value):
        return value if isinstance(value, DTensor) else DTensor.from_local(value, mesh, [Replicate()], run_check=False)
    for name in _there(model, GATHERING):
        model.get_submodule(name).register_forward_pre_hook(
            lambda module, args, kwargs: _first_tensor(args, kwargs, change), with_kwargs=True)


def _split_linears(model, mesh):
    rows = {"output_layouts": Shard(1)} if SEQUENCE else {}
    parallelize_module(model, mesh, {name: ColwiseParallel() for name in _there(model, COLUMNS)} |
                       {name: RowwiseParallel(**rows) for name in _there(model, ROWS)})
    if SEQUENCE:
        _share_tokens(model, mesh)
    else:
        _join_gradients(model, mesh)


)";

inline constexpr std::string_view traced_tensor_code = R"(def _restore_linears(stage):
    """Traced modules are no layers any more, by which parallelize_module knows how to split them."""
    for name in _there(stage, COLUMNS + ROWS):
        traced = stage.get_submodule(name)
        linear = torch.nn.Linear(*reversed(traced.weight.shape), bias=False, device="meta")
        linear.weight, linear.bias = traced.weight, getattr(traced, "bias", None)
        stage.set_submodule(name, linear)


)";

inline constexpr std::string_view expert_code = R"(class _SpreadRows(TorchFunctionMode):
    """Within a module of experts: rows of tokens, sorted by expert, go to the ranks that have theirs before the first
    product, and come back behind the last."""

    def __init__(self, products, group):
        super().__init__()
        self.products, self.group, self.rows = products, group, None

    def _dispatch(self, rows, ends):
        counts = torch.diff(ends, prepend=ends.new_zeros(1))
        received = wait_tensor(all_to_all_single(counts, None, None, self.group))
        self.sent, self.got = (each.view(EXPERT, -1).sum(1).tolist() for each in (counts, received))
        arrived = all_to_all_single_autograd(rows, self.got, self.sent, self.group)
        experts = torch.arange(len(received) // EXPERT, device=rows.device).repeat(EXPERT)
        self.order = experts.repeat_interleave(received, output_size=len(arrived)).argsort(stable=True)
        self.rows, self.arrived = rows, arrived.index_select(0, self.order)
        self.ends = received.view(EXPERT, -1).sum(0).cumsum(0, dtype=ends.dtype)

    def _combine(self, rows):
        return all_to_all_single_autograd(rows.index_select(0, self.order.argsort()), self.sent, self.got, self.group)

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if "grouped_mm" not in getattr(func, "__name__", ""):
            return func(*args, **kwargs)
        rows, weight, *others = args
        ends = others.pop(0) if others else kwargs.pop("offs")
        if self.rows is None:
            self._dispatch(rows, ends)
        self.products -= 1
        made = func(self.arrived if rows is self.rows else rows, weight.to_local(), self.ends, *others, **kwargs)
        return made if self.products else self._combine(made)


def _spread(forward, products, group):
    def run(*args, **kwargs):
        with _SpreadRows(products, group):
            return forward(*args, **kwargs)
    return run


def _spread_experts(model, mesh):
    """Each rank keeps a part of the experts of each module. Returns their parameters, which data parallelism leaves alone."""
    over, experts = mesh["shards" if SHARDS > 1 else "copies"], {}
    for name, (products, weights) in EXPERTS.items():
        module = model.get_submodule(name)
        for key in weights:
            weight = torch.nn.Parameter(distribute_tensor(module.get_parameter(key).detach(), over, [Shard(0)]))
            weight.register_hook(lambda gradient: gradient / EXPERT)  # A mean over samples, as all gradients are.
            module.register_parameter(key, weight)
            experts[f"{name}.{key}"] = weight
        module.forward = _spread(module.forward, products, over.get_group())
    return experts


)";

inline constexpr std::string_view data_code = R"(def _checkpoint_blocks(model):
    for name in _there(model, BLOCKS[:CHECKPOINTED]):
        checkpoint(model.get_submodule(name))


def _share_data(model, mesh, reshard=True, experts=None):
    """FSDP2 by blocks, HSDP where there are copies too, or copies alone."""
    if SHARDS > 1:
        over = mesh["copies", "shards"] if COPIES > 1 else mesh["shards"]
        options = {} if reshard else {"reshard_after_forward": False}
        if experts:
            options["ignored_params"] = set(experts.values())
        for name in _there(model, BLOCKS):
            fully_shard(model.get_submodule(name), mesh=over, **options)
        return fully_shard(model, mesh=over, **options)
    if COPIES > 1 and TENSOR > 1:
        for name in _there(model, BLOCKS):
            replicate(model.get_submodule(name), mesh=mesh["copies"])
        return replicate(model, mesh=mesh["copies"])
    if COPIES > 1:
        if experts:
            DistributedDataParallel._set_params_and_buffers_to_ignore_for_model(model, list(experts))
        return DistributedDataParallel(model, process_group=mesh["copies"].get_group(), gradient_as_bucket_view=True)
    return model


def parameter_groups(model):
    """Optimizers take parameters that are split apart from those that are not."""
    split = [p for p in model.parameters() if isinstance(p, DTensor)]
    plain = [p for p in model.parameters() if not isinstance(p, DTensor)]
    return [{"params": group} for group in (split, plain) if group]


)";

inline constexpr std::string_view plain_step = R"(def apply_plan(model, mesh):
    """Call it once, before the optimizer is made."""
    if TENSOR > 1:
        _split_linears(model, mesh["tensor"])
    experts = _spread_experts(model, mesh) if EXPERT > 1 else None
    _checkpoint_blocks(model)
    return _share_data(model, mesh, experts=experts)


def run_step(model, loss_function, inputs, targets):
    """Forward and backward of this rank's samples; the mean loss. `inputs` is a tuple, loss_function(output, target) a mean."""
    total = 0
    parts = zip(zip(*(value.chunk(MICROBATCHES) for value in inputs)), targets.chunk(MICROBATCHES))
    for place, (arguments, target) in enumerate(parts):
        if isinstance(model, DistributedDataParallel):
            model.require_backward_grad_sync = place == MICROBATCHES - 1
        loss = loss_function(model(*arguments), target) / MICROBATCHES
        loss.backward()
        total += loss.detach()
    return total
)";

inline constexpr std::string_view pipeline_step = R"(class Stages:
    """This rank's stages of the pipeline, and their schedule."""

    def __init__(self, modules, schedule, mesh):
        self.modules, self.schedule = modules, schedule
        rank = mesh["pipeline"].get_local_rank()
        self.is_first, self.is_last = rank == 0, rank == PIPELINE - 1

    def parameters(self):
        return [parameter for module in self.modules for parameter in module.parameters()]


def apply_plan(model, mesh, loss_function, example):
    """`example` is a tuple with one microbatch of a rank; the module is traced with it. Call it before the optimizer is
    made, of parameter_groups(stages)."""
    pipe = pipeline(model, mb_args=example, split_spec={name: SplitPoint.BEGINNING for name in STAGE_BEGINS})
    group, rank = mesh["pipeline"].get_group(), mesh["pipeline"].get_local_rank()
    device = next(iter(example)).device
    stages = []
    for place in range(rank, PIPELINE * STAGES_PER_RANK, PIPELINE):
        stage = pipe.build_stage(place, device, group)
        if TENSOR > 1:
            _restore_linears(stage.submod)
            _split_linears(stage.submod, mesh["tensor"])
        _checkpoint_blocks(stage.submod)
        traced, stage.submod = stage.submod, _share_data(stage.submod, mesh, reshard=False)
        if isinstance(stage.submod, DistributedDataParallel):
            stage.submod.graph = traced.graph  # It says what the stage receives.
        stages.append(stage)
    schedule = get_schedule_class(SCHEDULE)(stages if STAGES_PER_RANK > 1 else stages[0], MICROBATCHES, loss_fn=loss_function)
    return Stages([stage.submod for stage in stages], schedule, mesh)


def run_step(stages, inputs, targets):
    """Forward and backward of all microbatches of this rank's samples; the mean loss on the last rank, else None."""
    losses = []
    arguments = inputs if stages.is_first else ()
    if stages.is_last:
        stages.schedule.step(*arguments, target=targets, losses=losses, return_outputs=False)
        return torch.stack([loss.detach() for loss in losses]).mean()
    stages.schedule.step(*arguments, return_outputs=False)
    return None
)";

}  // namespace symprof::report::plan_code
