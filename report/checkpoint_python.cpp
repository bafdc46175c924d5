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
  if (is_joined || !plan.offloaded.empty())
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
            index = count[name]
            count[name] += 1
            return CheckpointPolicy.MUST_SAVE if (name, index) in kept else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    return make


def apply_plan(model):
    for name, kept in PLAN.items():
        checkpoint(model.get_submodule(name), **({"context_fn": contexts(kept)} if kept else {}))
)";

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
  fmt::format_to(
      at, "{}# What backward runs again, and which calls of it keep their outputs.\nPLAN = {{\n",
      python_head);
  for (const CheckpointRegion& region : plan.regions) {
    std::string kept;
    for (const KeptCall& call : region.kept)
      kept += fmt::format("{}(\"{}\", {})", kept.empty() ? "" : ", ", call.op, call.index);
    fmt::format_to(at, "    \"{}\": {},\n", region.modules.front(),
                   kept.empty() ? "set()" : "{" + kept + "}");
  }
  fmt::format_to(at, "}}\n{}", python_tail);
}

}  // namespace symprof::report
