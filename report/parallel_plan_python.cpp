// The plan as a Python file: constants from the plan, then code that is the same in every file.
#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "plan/parallel/tensor_split.h"
#include "report/format_number.h"
#include "report/parallel_plan.h"

namespace symprof::report {
namespace {

constexpr std::string_view head = R"(import torch
import torch.distributed as dist
from torch.distributed._composable import checkpoint
from torch.distributed._composable.replicate_with_fsdp import replicate
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import SplitPoint, pipeline
from torch.distributed.pipelining.schedules import get_schedule_class
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, SequenceParallel, parallelize_module
from torch.nn.parallel import DistributedDataParallel

)";

constexpr std::string_view mesh_code = R"(

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


)";

constexpr std::string_view tensor_code = R"(def _first_tensor(args, kwargs, change):
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
    for name in GATHERING:
        model.get_submodule(name).register_forward_pre_hook(
            lambda module, args, kwargs: _first_tensor(args, kwargs, gathered), with_kwargs=True)
    shared = _tokens_shared(mesh)
    model.get_submodule(BLOCKS[0]).register_forward_pre_hook(
        lambda module, args, kwargs: _first_tensor(args, kwargs, shared), with_kwargs=True)
    model.get_submodule(BLOCKS[-1]).register_forward_hook(lambda module, args, output: gathered(output).to_local())
    parallelize_module(model, mesh, {name: SequenceParallel(use_local_output=True) for name in TOKEN_MODULES})


def _join_gradients(model, mesh):
    """What several column layers read is one DTensor, whose gradients are added before they are summed over the ranks."""
    def change(value):
        return value if isinstance(value, DTensor) else DTensor.from_local(value, mesh, [Replicate()], run_check=False)
    for name in GATHERING:
        model.get_submodule(name).register_forward_pre_hook(
            lambda module, args, kwargs: _first_tensor(args, kwargs, change), with_kwargs=True)


def _split_linears(model, mesh):
    rows = {"output_layouts": Shard(1)} if SEQUENCE else {}
    parallelize_module(model, mesh, {name: ColwiseParallel() for name in COLUMNS} |
                       {name: RowwiseParallel(**rows) for name in ROWS})
    if SEQUENCE:
        _share_tokens(model, mesh)
    else:
        _join_gradients(model, mesh)


)";

constexpr std::string_view data_code = R"(def _checkpoint_blocks(model):
    names = dict(model.named_modules())
    for name in BLOCKS[:CHECKPOINTED]:
        if name in names:
            checkpoint(names[name])


def _share_data(model, mesh, reshard=True):
    """FSDP2 by blocks, HSDP where there are copies too, or copies alone."""
    if SHARDS > 1:
        over = mesh["copies", "shards"] if COPIES > 1 else mesh["shards"]
        options = {} if reshard else {"reshard_after_forward": False}
        names = dict(model.named_modules())
        for name in BLOCKS:
            if name in names:
                fully_shard(names[name], mesh=over, **options)
        return fully_shard(model, mesh=over, **options)
    if COPIES > 1 and TENSOR > 1:
        for name in BLOCKS:
            replicate(model.get_submodule(name), mesh=mesh["copies"])
        return replicate(model, mesh=mesh["copies"])
    if COPIES > 1:
        return DistributedDataParallel(model, process_group=mesh["copies"].get_group(), gradient_as_bucket_view=True)
    return model


def parameter_groups(model):
    """Optimizers take parameters that are split apart from those that are not."""
    split = [p for p in model.parameters() if isinstance(p, DTensor)]
    plain = [p for p in model.parameters() if not isinstance(p, DTensor)]
    return [{"params": group} for group in (split, plain) if group]


)";

constexpr std::string_view plain_step = R"(def apply_plan(model, mesh):
    """Call it once, before the optimizer is made."""
    if TENSOR > 1:
        _split_linears(model, mesh["tensor"])
    _checkpoint_blocks(model)
    return _share_data(model, mesh)


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

constexpr std::string_view pipeline_step = R"(class Stages:
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
        _checkpoint_blocks(stage.submod)
        stage.submod = _share_data(stage.submod, mesh, reshard=False)
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

/// A Python list of names, one to a line.
std::string list_text(const std::vector<std::string>& names) {
  if (names.empty()) return "[]";
  std::string text = "[\n";
  for (const std::string& name : names) text += fmt::format("    \"{}\",\n", name);
  return text + "]";
}

std::vector<std::string> linears_of(const ParallelAnswer& answer, plan::NodeSplit style) {
  std::vector<std::string> names;
  for (const plan::SplitLinear& linear : answer.split.linears)
    if (linear.style == style) names.push_back(linear.module);
  return names;
}

void write_constants(fmt::memory_buffer& out, const ParallelAnswer& answer,
                     const plan::LayoutResult& best) {
  const plan::ParallelLayout& layout = best.layout;
  const auto at = std::back_inserter(out);
  fmt::format_to(at, "PIPELINE, COPIES, SHARDS, TENSOR = {}, {}, {}, {}\n", layout.pipeline,
                 layout.data / layout.shard, layout.shard, layout.tensor);
  fmt::format_to(at, "MICROBATCHES = {}\n", layout.microbatches);
  fmt::format_to(at, "CHECKPOINTED = {}  # Blocks that run again in backward, the first ones.\n",
                 layout.checkpointed);
  fmt::format_to(at, "BLOCKS = {}\n", list_text(answer.blocks));
  if (layout.tensor > 1) {
    fmt::format_to(at, "SEQUENCE = {}\n", layout.sequence ? "True" : "False");
    fmt::format_to(at, "COLUMNS = {}\nROWS = {}\n",
                   list_text(linears_of(answer, plan::NodeSplit::column)),
                   list_text(linears_of(answer, plan::NodeSplit::row)));
  }
  if (layout.tensor > 1)
    fmt::format_to(
        at, "GATHERING = {}\nTOKEN_MODULES = {}\n",
        list_text(layout.sequence || layout.by_node ? answer.split.gathering_modules
                                                    : std::vector<std::string>()),
        list_text(layout.sequence ? answer.split.token_modules : std::vector<std::string>()));
  if (layout.pipeline == 1) return;
  std::vector<std::string> begins;
  begins.reserve(best.stage_ends.size());
  for (std::size_t i = 0; i + 1 < best.stage_ends.size(); ++i)
    begins.push_back(answer.blocks[best.stage_ends[i]]);
  fmt::format_to(at, "SCHEDULE, STAGES_PER_RANK = \"{}\", {}\nSTAGE_BEGINS = {}\n",
                 plan::row_of(layout.schedule).name, layout.stages_per_rank, list_text(begins));
}

void check_can_write(const ParallelAnswer& answer) {
  if (!answer.plan.best)
    throw Error(answer.model, "there is no plan to write.",
                "No layout fits: take more devices, or a smaller " + setting("global_batch") + ".");
  const plan::ParallelLayout& layout = answer.plan.best->layout;
  if (layout.pipeline > 1 && layout.tensor > 1)
    throw Error(answer.model,
                "the plan splits the modules of pipeline stages, which PyTorch traces with whole "
                "sizes.",
                "Write it as JSON, or ask for a layout without one of the two (" +
                    setting("layout", "pp=1") + ").");
}

std::string usage_text(const plan::ParallelLayout& layout) {
  if (layout.pipeline > 1)
    return "    mesh = make_mesh()\n"
           "    stages = apply_plan(model, mesh, loss_function, example)\n"
           "    optimizer = torch.optim.AdamW(parameter_groups(stages))\n"
           "    loss = run_step(stages, (local_share(inputs, mesh),), local_share(targets, "
           "mesh))\n";
  return "    mesh = make_mesh()\n"
         "    model = apply_plan(model, mesh)\n"
         "    optimizer = torch.optim.AdamW(parameter_groups(model))\n"
         "    loss = run_step(model, loss_function, (local_share(inputs, mesh),), "
         "local_share(targets, mesh))\n";
}

}  // namespace

void write_parallel_python(fmt::memory_buffer& out, const ParallelAnswer& answer) {
  check_can_write(answer);
  const plan::LayoutResult& best = *answer.plan.best;
  const plan::Mesh& mesh = answer.problem.mesh;
  const auto at = std::back_inserter(out);
  fmt::format_to(
      at,
      "\"\"\"{} on {} devices: {}\n\nEstimated: {} a step, {} of communication exposed, "
      "{} on the fullest rank.\nIn a program that torchrun starts on {} with {} processes "
      "each:\n\n{}\"\"\"\n",
      answer.model, mesh.devices(), text_of(best.layout), format_time(best.step_us),
      format_time(best.exposed_us), format_bytes(static_cast<std::int64_t>(best.memory.peak_bytes)),
      mesh.nodes == 1 ? "1 node" : fmt::format("{} nodes", mesh.nodes), mesh.devices_per_node,
      usage_text(best.layout));
  out.append(head);
  write_constants(out, answer, best);
  out.append(mesh_code);
  if (best.layout.tensor > 1) out.append(tensor_code);
  out.append(data_code);
  out.append(best.layout.pipeline > 1 ? pipeline_step : plain_step);
}

}  // namespace symprof::report
