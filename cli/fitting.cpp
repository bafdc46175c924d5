#include "cli/fitting.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/option_names.h"
#include "trace/passes/module_patterns.h"

namespace symprof::cli {

Fitting::Fitting(TorchLibrary& torch, SizedModel& model, const Graph& graph,
                 const DeviceSpec& device, const plan::Budget& budget)
    : torch_(torch), model_(model), graph_(graph), options_(model.options()) {
  options_.step.device = device;
  report_.device = device;
  report_.budget = budget;
}

plan::FitReport Fitting::run(const std::string& dimension) {
  report_.recording = torch_.get().propagate(graph_, options_.step);
  report_.fit = fit(report_.recording, options_.loop);
  if (!dimension.empty()) find_largest(dimension);
  if (!report_.fit.fits()) add_changes();
  return std::move(report_);
}

plan::Fit Fitting::fit(const Recording& recording, const profile::LoopOptions& loop) const {
  return plan::fit(recording, options_.step.device, report_.budget, loop);
}

/// Another dtype is another graph.
Recording Fitting::record(const ModelOptions& options) {
  if (options.dtype == options_.dtype) return torch_.get().propagate(graph_, options.step);
  ModelOptions cast = options;
  return torch_.get().propagate(load_model(torch_, cast), cast.step);
}

Recording Fitting::record_at(const std::string& dimension, std::int64_t size) {
  if (dimension != cache_dimension)
    return torch_.get().propagate(model_.at({{dimension, size}}), options_.step);
  StepOptions step = options_.step;
  step.kv_cache = size;
  return torch_.get().propagate(graph_, step);
}

void Fitting::find_largest(const std::string& dimension) {
  report_.dimension = dimension;
  const std::optional<std::int64_t> given =
      dimension == cache_dimension ? options_.step.kv_cache : given_size(options_, dimension);
  const auto is_small_enough = [&](std::int64_t size) {
    return plan::fits(record_at(dimension, size), options_.step.device, report_.budget,
                      options_.loop);
  };
  report_.largest =
      plan::find_largest_size(given.value_or(1), range_end(dimension), is_small_enough);
  if (report_.largest->fits)
    report_.at_largest = fit(record_at(dimension, *report_.largest->fits), options_.loop);
}

/// The most that the file says the graph was exported for.
std::optional<std::int64_t> Fitting::range_end(const std::string& dimension) const {
  for (const SymbolRange& range : graph_.symbol_ranges)
    if (range.symbol == dimension) return range.most;
  return std::nullopt;
}

/// True when it saves memory; what does not is no answer.
bool Fitting::add_change(std::string text, const ModelOptions& changed) {
  const plan::Fit there = fit(record(changed), changed.loop);
  if (there.wanted.peak_reserved_bytes >= report_.fit.wanted.peak_reserved_bytes) return false;
  report_.changes.push_back({std::move(text), there});
  return true;
}

/// From what changes nothing but the allocator to what changes the numbers.
void Fitting::add_changes() {
  ModelOptions all = options_;
  std::string all_text;
  int count = 0;
  const auto add = [&](const std::string& text, const auto& apply) {
    ModelOptions changed = options_;
    apply(changed);
    if (!add_change(text, changed)) return;
    apply(all);
    all_text += (all_text.empty() ? "" : " ") + text;
    ++count;
  };
  if (!options_.loop.allocator.expandable_segments)
    add("--alloc-conf expandable_segments:True",
        [](ModelOptions& options) { options.loop.allocator.expandable_segments = true; });
  const StepOptions& step = options_.step;
  if (has_variant(step.optimizer, OptimizerVariant::fused) &&
      variant_of(step) != OptimizerVariant::fused)
    add(fmt::format("--optimizer {}:fused", report::name_of(report::optimizers, step.optimizer)),
        [](ModelOptions& options) { options.step.optimizer_variant = OptimizerVariant::fused; });
  if (!step.autocast && !options_.dtype)
    add("--autocast bf16", [](ModelOptions& options) { options.step.autocast = DType::bfloat16; });
  if (step.checkpoint.empty())
    if (const std::vector<std::string> patterns = trace::repeated_modules(graph_);
        !patterns.empty())
      add("--checkpoint " + patterns[0],  // The modules with the most nodes.
          [&](ModelOptions& options) { options.step.checkpoint = {patterns[0]}; });
  if (step.mode != Mode::inference && step.offload_saved.empty())
    add("--offload-saved '*'", [](ModelOptions& options) { options.step.offload_saved = {"*"}; });
  if (count > 1) add_change(all_text, all);
  if (!options_.dtype) {
    ModelOptions half = options_;
    half.dtype = DType::bfloat16;
    add_change("--dtype bf16", half);
  }
  std::ranges::stable_sort(report_.changes, {}, [](const plan::Change& change) {
    return change.fit.wanted.peak_reserved_bytes;
  });
}

}  // namespace symprof::cli
