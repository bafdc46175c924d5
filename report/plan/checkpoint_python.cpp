#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <set>
#include <string>

#include "base/error.h"
#include "plan/checkpoint/answers.h"
#include "report/plan/checkpoint.h"
#include "report/plan/checkpoint_text.h"
#include "report/plan/warm_start_python.h"
#include "session/checkpoint_answer.h"

namespace symprof::report {
namespace {

/// Python's hooks go around one module.
void check_python_can(const CheckpointAnswer& answer, const CheckpointPlan& plan) {
  if (plan::joins_modules(plan))
    throw Error(answer.model, "the best plan recomputes several modules as one.",
                "Python's hooks go around one module each. Write the plan as JSON.");
}

constexpr std::string_view python_head = R"(import collections

import torch
)";

constexpr std::string_view python_imports = R"(from torch.distributed._composable import checkpoint
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

)";

// The hook also runs during recomputation, and without gradients: then there are no counts to
// check.
constexpr std::string_view python_tail = R"(

def contexts(name, module):
    """Keeps what PLAN[name] says. Calls are found by their number, so the module has to make those of its file."""
    kept, counts = PLAN[name], []  # Counts are those of the forward pass that runs.

    def make():
        count = collections.Counter()
        counts[:] = [count]

        def policy(ctx, op, *args, **kwargs):
            made = op._schema.name
            index = count[ctx.is_recompute, made]  # Before 2.13 PyTorch asks in backward once more.
            count[ctx.is_recompute, made] += 1
            return CheckpointPolicy.MUST_SAVE if (made, index) in kept else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    def check(module, args, output):
        count = counts.pop() if counts else None
        if count is None or not torch.is_grad_enabled():
            return
        for op, numbers in CALLS[name].items():
            if count[False, op] not in numbers:
                refuse(name, op, count[False, op])

    module.register_forward_hook(check)
    return make


def refuse(name, op, made):
    kept = ", ".join(f"{one}#{index}" for one, index in sorted(PLAN[name]) if one == op)
    known = " or ".join(map(str, CALLS[name][op]))
    raise RuntimeError(
        f"{name}: makes {made} calls of {op}, and {known} in the file that the plan is of: {kept}, which the plan "
        "keeps, may be another call here. Export the module as it is trained (mode, dtype, device) and plan for "
        "that file, or plan with --whole, which finds no calls by their number."
    )
)";

constexpr std::string_view python_apply = R"(

def apply_plan({}):
)";

// save_on_cpu has to enclose the checkpoint: so its hooks are registered first, and end last.
constexpr std::string_view python_offload = R"(    for name in ON_HOST:
        save_in_host_memory(model.get_submodule(name))
)";

constexpr std::string_view python_again = R"(    for name, kept in PLAN.items():
        module = model.get_submodule(name)
        checkpoint(module, **({"context_fn": contexts(name, module)} if kept else {}))
)";

constexpr std::string_view python_host_hooks = R"(

def save_in_host_memory(module):
    running = []

    def enter(module, args):
        running.append(save_on_cpu(pin_memory=torch.cuda.is_available()))
        running[-1].__enter__()

    def leave(module, args, output):
        running.pop().__exit__(None, None, None)

    module.register_forward_pre_hook(enter)
    module.register_forward_hook(leave, always_call=True)
)";

/// If tensors are on the device already, the allocator reserves that much less.
constexpr std::string_view python_up_front =
    R"(# Blocks that come and go: PyTorch's allocator keeps their segments, unless torch.cuda.empty_cache() is called, and what is larger
# than 1 MiB finds room there, from the first tensor on the device on. Without them the same plan reserves more.
if torch.cuda.is_available():
    sizes = [max(UP_FRONT_BYTES[0] - torch.cuda.memory_reserved(), 0), *UP_FRONT_BYTES[1:]]
    blocks = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in sizes]
    del blocks  # All are there before the first one goes.
    torch.cuda.reset_peak_memory_stats()

)";

std::string on_host_text(const CheckpointPlan& plan) {
  std::string text =
      "# Modules whose checkpoint inputs, or all saved tensors, are offloaded to host "
      "memory.\nON_HOST = [";
  for (const std::string& module : plan.offloaded)
    text += fmt::format("{}\"{}\"", module == plan.offloaded.front() ? "" : ", ", module);
  return text + "]\n";
}

// If the environment sets the option already, the call has no effect; memory reserved before it
// keeps its segments.
constexpr std::string_view python_expandable =
    R"(# The plan is for segments that grow, from the first tensor on the device on.
if torch.cuda.is_available():
    torch.cuda.memory._set_allocator_settings("expandable_segments:True")

)";

/// True if the written plan is for expandable segments, requested or offered.
bool expands(const CheckpointAnswer& answer, const std::optional<plan::SimulatedPlan>& offer) {
  return offer || answer.settings.loop.allocator.expandable_segments;
}

/// The plan of the file, compared with the one for PyTorch's default segments.
std::string offered_text(const CheckpointAnswer& answer, const plan::PlanAnswer& one,
                         const plan::SimulatedPlan& offer) {
  return fmt::format("With expandable_segments:True, which this file sets, {}: {}.{}",
                     offer.plan.is_empty() ? "it fits without a plan" : "this plan fits",
                     figures_text(answer, offer),
                     one.best ? "\nWithout them: " + figures_text(answer, *one.best) + "." : "");
}

void write_plan(fmt::memory_buffer& out, const CheckpointPlan& plan) {
  const auto at = std::back_inserter(out);
  fmt::format_to(
      at, "# What backward recomputes, and which of its calls keep their outputs.\nPLAN = {{\n");
  for (const CheckpointRegion& region : plan.regions) {
    std::string kept;
    for (const KeptCall& call : region.kept)
      kept += fmt::format("{}(\"{}\", {})", kept.empty() ? "" : ", ", call.op, call.index);
    fmt::format_to(at, "    \"{}\": {},\n", region.modules.front(),
                   kept.empty() ? "set()" : "{" + kept + "}");
  }
  fmt::format_to(at, "}}\n");
}

/// Call counts of the operators of which a region keeps some outputs.
void write_calls(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                 const CheckpointPlan& plan) {
  const auto at = std::back_inserter(out);
  fmt::format_to(at,
                 "# How many calls of those operators the modules make in the file of the "
                 "plan.\nCALLS = {{\n");
  for (const CheckpointRegion& region : plan.regions) {
    if (region.kept.empty()) continue;
    const plan::CallNumbers& numbers = answer.call_numbers.at(region.modules.front());
    std::set<std::string> ops;
    for (const KeptCall& call : region.kept) ops.insert(call.op);
    std::string text;
    for (const std::string& op : ops)
      text += fmt::format("{}\"{}\": [{}]", text.empty() ? "" : ", ", op,
                          fmt::join(numbers.at(op), ", "));
    fmt::format_to(at, "    \"{}\": {{{}}},\n", region.modules.front(), text);
  }
  fmt::format_to(at, "}}\n");
}

}  // namespace

void write_checkpoint_python(fmt::memory_buffer& out, const CheckpointAnswer& answer) {
  const plan::PlanAnswer& one = answer.answers.front();
  const std::optional<plan::SimulatedPlan> offer = offer_of(answer, 0);
  if (!one.best && !offer)
    throw Error(answer.model, "there is no plan to write.", "Give a larger budget.");
  const plan::SimulatedPlan& written = offer ? *offer : *one.best;
  const CheckpointPlan& plan = written.plan;
  check_python_can(answer, plan);
  const bool is_warm = written.warm_start || answer.settings.loop.warm_start;
  const std::string_view arguments =
      is_warm && takes_optimizer(answer) ? "model, optimizer" : "model";
  const auto at = std::back_inserter(out);
  fmt::format_to(at,
                 "\"\"\"{}\n\n{}\n\nCall apply_plan({}) once, {}before the first step.{}\n\"\"\"\n",
                 verdict(answer, one),
                 offer ? offered_text(answer, one, *offer) : figures_text(answer, written),
                 arguments, is_warm ? "with the model on its device, " : "before fully_shard and ",
                 expands(answer, offer) || !written.up_front_bytes.empty()
                     ? " Import this file before anything is on the device."
                     : "");
  const bool offloads = !plan.offloaded.empty();
  fmt::format_to(at, "{}{}{}{}", python_head,
                 offloads ? "from torch.autograd.graph import save_on_cpu\n" : "", python_imports,
                 expands(answer, offer) ? python_expandable : "");
  if (!written.up_front_bytes.empty())
    fmt::format_to(at, "UP_FRONT_BYTES = [{}]\n{}", fmt::join(written.up_front_bytes, ", "),
                   python_up_front);
  write_plan(out, plan);
  write_calls(out, answer, plan);
  if (offloads) fmt::format_to(at, "{}{}", on_host_text(plan), python_host_hooks);
  fmt::format_to(at, "{}", python_tail);
  if (is_warm) write_warm_start(out, answer);
  fmt::format_to(at, python_apply, arguments);
  fmt::format_to(at, "{}{}{}", is_warm ? warm_start_calls(answer) : "",
                 offloads ? python_offload : "", python_again);
}

}  // namespace symprof::report
