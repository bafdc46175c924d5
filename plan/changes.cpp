#include "plan/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "trace/graph/module_patterns.h"

namespace symprof::plan {
namespace {

/// GPUs before Ampere have no bf16 matrix multiplication.
bool has_bf16(const DeviceSpec& device) { return device.compute_major >= 8; }

std::string folder_of(std::string_view pattern) {
  return std::string(pattern.substr(0, pattern.rfind('.') + 1));
}

/// Drops patterns whose modules may contain each other: a module is not recomputed twice.
std::vector<std::string> side_by_side(const std::vector<std::string>& patterns) {
  std::vector<std::string> chosen;
  for (const std::string& pattern : patterns) {
    const auto overlaps = [&](const std::string& other) {
      return folder_of(pattern).starts_with(folder_of(other)) ||
             folder_of(other).starts_with(folder_of(pattern));
    };
    if (std::ranges::none_of(chosen, overlaps)) chosen.push_back(pattern);
  }
  return chosen;
}

/// fp16 needs its gradients scaled.
Change autocast(const StepOptions& step) {
  if (has_bf16(step.device)) return {{{"autocast", "bf16"}}};
  if (step.optimizer == Optimizer::none || step.grad_scaler) return {{{"autocast", "fp16"}}};
  return {{{"autocast", "fp16"}, {"grad_scaler"}}};
}

void add_checkpoints(std::vector<Change>& changes, const Graph& graph) {
  Change all;
  for (const std::string& pattern : side_by_side(trace::repeated_modules(graph)))
    all.settings.push_back({"checkpoint", pattern});
  if (all.settings.empty()) return;
  changes.push_back({{all.settings.front()}});  // The modules with the most nodes.
  if (all.settings.size() > 1) changes.push_back(all);
}

}  // namespace

std::vector<Change> possible_changes(const Graph& graph, const Situation& situation) {
  const StepOptions& step = situation.step;
  std::vector<Change> changes;
  if (!situation.loop.allocator.expandable_segments)
    changes.push_back({{{"alloc_conf", "expandable_segments:True"}}});
  if (has_variant(step.optimizer, OptimizerVariant::fused) &&
      variant_of(step) != OptimizerVariant::fused)
    changes.push_back({{{"optimizer", fmt::format("{}:fused", info_of(step.optimizer).name)}}});
  if (!step.autocast && !situation.is_cast) changes.push_back(autocast(step));
  if (step.mode == Mode::inference) return changes;
  if (step.checkpoint.empty()) add_checkpoints(changes, graph);
  if (step.offload_saved.empty()) changes.push_back({{{"offload_saved", "*"}}});
  return changes;
}

std::vector<Change> other_recipes(const Situation& situation) {
  const StepOptions& step = situation.step;
  std::vector<Change> changes;
  if (step.optimizer != Optimizer::none && step.optimizer != Optimizer::adafactor)
    changes.push_back({{{"optimizer", "adafactor"}}});
  if (!situation.is_cast) changes.push_back({{{"dtype", has_bf16(step.device) ? "bf16" : "fp16"}}});
  return changes;
}

Change smaller_batch(const std::string& name, std::int64_t size, int micro_batches) {
  Change change{{{"sizes", fmt::format("{}={}", name, size)}}};
  if (micro_batches > 1)
    change.settings.push_back({"micro_batches", std::to_string(micro_batches)});
  return change;
}

}  // namespace symprof::plan
