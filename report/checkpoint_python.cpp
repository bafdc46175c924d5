#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "report/checkpoint.h"
#include "report/checkpoint_text.h"

namespace symprof::report {
namespace {

/// Python's hooks go around one module.
void check_python_can(const CheckpointAnswer& answer, const CheckpointPlan& plan) {
  const bool is_joined = std::ranges::any_of(
      plan.regions, [](const CheckpointRegion& region) { return region.modules.size() > 1; });
  if (is_joined)
    throw Error(answer.model, "the best plan runs several modules again as one.",
                "Python's hooks go around one module each. Write the plan as JSON.");
}

constexpr std::string_view python_head = R"(import collections

from torch.distributed._composable import checkpoint
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

)";

constexpr std::string_view python_tail = R"(

def contexts(kept):
    def make():
        count = collections.Counter()

        def policy(ctx, op, *args, **kwargs):
            name = op._schema.name
            index = count[ctx.is_recompute, name]  # Before 2.13 PyTorch asks in backward once more.
            count[ctx.is_recompute, name] += 1
            return CheckpointPolicy.MUST_SAVE if (name, index) in kept else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    return make


def apply_plan(model):
)";

// save_on_cpu has to be around the checkpoint: so its hooks are there first, and go last.
constexpr std::string_view python_offload = R"(    for name in ON_HOST:
        save_in_host_memory(model.get_submodule(name))
)";

constexpr std::string_view python_again = R"(    for name, kept in PLAN.items():
        checkpoint(model.get_submodule(name), **({"context_fn": contexts(kept)} if kept else {}))
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

std::string on_host_text(const CheckpointPlan& plan) {
  std::string text =
      "# Where backward's inputs, or all that a module saves, wait in host memory.\nON_HOST = [";
  for (const std::string& module : plan.offloaded)
    text += fmt::format("{}\"{}\"", module == plan.offloaded.front() ? "" : ", ", module);
  return text + "]\n";
}

std::string limit_line(const CheckpointAnswer& answer, const plan::PlayedPlan& played) {
  if (!played.limit_bytes) return "";
  return fmt::format(
      "# The plan holds with PyTorch's allocator held to {} bytes:\n"
      "#     {}\n",
      *played.limit_bytes, limit_call(answer, *played.limit_bytes));
}

}  // namespace

void write_checkpoint_python(fmt::memory_buffer& out, const CheckpointAnswer& answer) {
  const plan::PlanAnswer& one = answer.answers.front();
  if (!one.best) throw Error(answer.model, "there is no plan to write.", "Give a larger budget.");
  const CheckpointPlan& plan = one.best->plan;
  check_python_can(answer, plan);
  const auto at = std::back_inserter(out);
  fmt::format_to(at,
                 "\"\"\"{}\n\n{}\n\nCall apply_plan(model) once, before fully_shard and before the "
                 "first step.\n\"\"\"\n",
                 verdict(answer, one), figures_text(answer, *one.best));
  const bool offloads = !plan.offloaded.empty();
  if (offloads) fmt::format_to(at, "import torch\nfrom torch.autograd.graph import save_on_cpu\n");
  fmt::format_to(
      at, "{}{}# What backward runs again, and which calls of it keep their outputs.\nPLAN = {{\n",
      python_head, limit_line(answer, *one.best));
  for (const CheckpointRegion& region : plan.regions) {
    std::string kept;
    for (const KeptCall& call : region.kept)
      kept += fmt::format("{}(\"{}\", {})", kept.empty() ? "" : ", ", call.op, call.index);
    fmt::format_to(at, "    \"{}\": {},\n", region.modules.front(),
                   kept.empty() ? "set()" : "{" + kept + "}");
  }
  fmt::format_to(at, "}}\n");
  if (offloads) fmt::format_to(at, "{}{}", on_host_text(plan), python_host_hooks);
  fmt::format_to(at, "{}{}{}", python_tail, offloads ? python_offload : "", python_again);
}

}  // namespace symprof::report
