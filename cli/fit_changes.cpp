#include "cli/fit_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/model.h"
#include "report/option_names.h"
#include "trace/graph/expression.h"
#include "trace/graph/module_patterns.h"

namespace symprof::cli {
namespace {

/// GPUs before Ampere have no bf16 products.
bool has_bf16(const DeviceSpec& device) { return device.compute_major >= 8; }

std::string folder_of(std::string_view pattern) {
  return std::string(pattern.substr(0, pattern.rfind('.') + 1));
}

/// Those that are in none of the others: the modules of one are not recomputed twice.
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

std::string checkpoint_text(const std::vector<std::string>& patterns) {
  std::string text;
  for (const std::string& pattern : patterns)
    text += fmt::format("{}--checkpoint '{}'", text.empty() ? "" : " ", pattern);
  return text;
}

PossibleChange checkpoint(std::vector<std::string> patterns) {
  const std::string text = checkpoint_text(patterns);
  return {text, [patterns = std::move(patterns)](ModelOptions& options) {
            options.step.checkpoint = patterns;
          }};
}

/// fp16 needs its gradients scaled.
PossibleChange autocast(const StepOptions& step) {
  if (has_bf16(step.device))
    return {"--autocast bf16",
            [](ModelOptions& changed) { changed.step.autocast = DType::bfloat16; }};
  const bool scales = step.optimizer != Optimizer::none && !step.grad_scaler;
  return {scales ? "--autocast fp16 --grad-scaler" : "--autocast fp16",
          [scales](ModelOptions& changed) {
            changed.step.autocast = DType::float16;
            changed.step.grad_scaler |= scales;
          }};
}

void add_checkpoints(std::vector<PossibleChange>& changes, const Graph& graph) {
  const std::vector<std::string> patterns = side_by_side(trace::repeated_modules(graph));
  if (patterns.empty()) return;
  changes.push_back(checkpoint({patterns[0]}));  // The modules with the most nodes.
  if (patterns.size() > 1) changes.push_back(checkpoint(patterns));
}

/// The name that the user gave `symbol`, if any.
std::string name_of(const Graph& graph, const ModelOptions& options, const std::string& symbol) {
  for (const auto& [name, size] : options.bindings)
    if (symbol_of(graph, name) == symbol) return name;
  return symbol;
}

}  // namespace

std::vector<PossibleChange> possible_changes(const Graph& graph, const ModelOptions& options) {
  const StepOptions& step = options.step;
  std::vector<PossibleChange> changes;
  if (!options.loop.allocator.expandable_segments)
    changes.push_back({"--alloc-conf expandable_segments:True", [](ModelOptions& changed) {
                         changed.loop.allocator.expandable_segments = true;
                       }});
  if (has_variant(step.optimizer, OptimizerVariant::fused) &&
      variant_of(step) != OptimizerVariant::fused)
    changes.push_back(
        {fmt::format("--optimizer {}:fused", report::name_of(report::optimizers, step.optimizer)),
         [](ModelOptions& changed) { changed.step.optimizer_variant = OptimizerVariant::fused; }});
  if (!step.autocast && !options.dtype) changes.push_back(autocast(step));
  if (step.mode != Mode::inference && step.checkpoint.empty()) add_checkpoints(changes, graph);
  if (step.mode != Mode::inference && step.offload_saved.empty())
    changes.push_back(
        {"--offload-saved '*'", [](ModelOptions& changed) { changed.step.offload_saved = {"*"}; }});
  return changes;
}

std::vector<PossibleChange> other_recipes(const ModelOptions& options) {
  std::vector<PossibleChange> changes;
  if (options.step.optimizer != Optimizer::none && options.step.optimizer != Optimizer::adafactor)
    changes.push_back({"--optimizer adafactor", [](ModelOptions& changed) {
                         changed.step.optimizer = Optimizer::adafactor;
                         changed.step.optimizer_variant.reset();
                       }});
  if (options.dtype) return changes;
  const DType half = has_bf16(options.step.device) ? DType::bfloat16 : DType::float16;
  changes.push_back({half == DType::bfloat16 ? "--dtype bf16" : "--dtype fp16",
                     [half](ModelOptions& changed) { changed.dtype = half; }});
  return changes;
}

std::optional<BatchDimension> batch_dimension(const Graph& graph, const ModelOptions& options) {
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[static_cast<std::size_t>(id)];
    if (!input.spec || input.dimensions.empty()) continue;
    const std::string& symbol = input.dimensions[0].symbol;
    if (!trace::is_symbol(symbol)) continue;
    return BatchDimension{.name = name_of(graph, options, symbol),
                          .size = input.spec->sizes[0],
                          .least = std::max<std::int64_t>(range_of(graph, symbol).least, 1)};
  }
  return std::nullopt;
}

PossibleChange smaller_batch(const std::string& name, std::int64_t size, int micro_batches) {
  std::string text = fmt::format("--set {}={}", name, size);
  if (micro_batches > 1) text += fmt::format(" --micro-batches {}", micro_batches);
  return {text, [=](ModelOptions& options) {
            set_size(options, name, size);
            options.loop.micro_batches = micro_batches;
          }};
}

}  // namespace symprof::cli
