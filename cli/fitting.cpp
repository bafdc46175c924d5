#include "cli/fitting.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "trace/graph/expression.h"

namespace symprof::cli {
namespace {

/// Of an input's dimension that --max means.
struct Dimension {
  std::int64_t size = 1;    ///< Of the step.
  std::int64_t factor = 1;  ///< The file says that sizes are multiples of it.
  std::optional<std::int64_t> most;
};

/// 4 of "4*s65", 1 of what is no multiple of one symbol.
std::int64_t factor_of(const std::string& expression) {
  if (trace::symbols(expression).size() != 1) return 1;
  const auto at = [&](std::int64_t size) {
    return trace::evaluate(expression, [size](std::string_view) { return size; });
  };
  return at(0) == 0 ? std::max<std::int64_t>(at(1).value_or(1), 1) : 1;
}

Dimension dimension_called(const Graph& graph, const std::string& name) {
  Dimension found;
  std::string symbol = name;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.values[static_cast<std::size_t>(id)];
    for (std::size_t i = 0; input.spec && i < input.dimensions.size(); ++i) {
      if (!is_called(input, i, name)) continue;
      symbol = input.dimensions[i].symbol;
      found.size = input.spec->sizes[i];
      found.factor = factor_of(symbol);
    }
  }
  found.most = range_of(graph, symbol).most;
  return found;
}

/// What is wrong with a size that nobody gave is wrong with --max.
[[noreturn]] void throw_of_max(const Error& error, const std::string& dimension) {
  if (error.is_about("sizes", dimension)) throw error.at(SettingRef{"max", dimension});
  throw error;
}

}  // namespace

Graph graph_to_fit(SizedModel& model, const std::string& dimension) {
  const bool is_size = !dimension.empty() && dimension != cache_dimension;
  if (!is_size || given_size(model.options(), dimension)) return model.at({});
  try {
    return model.at({});
  } catch (const Error&) {
    // Nothing has a size of it, or something else is wrong: that shows again.
    model.set_size(dimension, 1);
  }
  try {
    return model.at({});
  } catch (const Error& error) {
    throw_of_max(error, dimension);
  }
}

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

/// Another dtype is another graph, and so is another size.
Recording Fitting::record(const ModelOptions& options) {
  if (options.dtype != options_.dtype) {
    ModelOptions cast = options;
    return torch_.get().propagate(load_model(torch_, cast), cast.step);
  }
  if (options.bindings != options_.bindings)
    return torch_.get().propagate(model_.at(options.bindings), options.step);
  return torch_.get().propagate(graph_, options.step);
}

Recording Fitting::record_at(const std::string& dimension, std::int64_t size) {
  if (dimension != cache_dimension)
    return torch_.get().propagate(model_.at({{dimension, size}}), options_.step);
  StepOptions step = options_.step;
  step.kv_cache = size;
  return torch_.get().propagate(graph_, step);
}

/// A size that the model does not run with is one that does not fit, and the reason is told; but
/// not the first one, which the user or the file gives.
void Fitting::find_largest(const std::string& dimension) {
  report_.dimension = dimension;
  Dimension range = dimension_called(graph_, dimension);
  if (dimension == cache_dimension)
    range = {.size = options_.step.kv_cache.value_or(1)};
  else
    range.size = given_size(options_, dimension).value_or(range.size);
  std::map<std::int64_t, std::string> refusals;
  bool is_first = true;
  const auto fits = [&](std::int64_t multiple) {
    const std::int64_t size = multiple * range.factor;
    try {
      const Recording recording = record_at(dimension, size);
      is_first = false;
      return plan::fits(recording, options_.step.device, report_.budget, options_.loop);
    } catch (const Error& error) {
      if (is_first) throw_of_max(error, dimension);
      refusals.emplace(size, error.problem(unspelled));
      return false;
    }
  };
  const auto multiples = [&](std::int64_t size) {
    return std::max(size / range.factor, std::int64_t{1});
  };
  plan::LargestSize largest = plan::find_largest_size(
      multiples(range.size), range.most ? std::optional(multiples(*range.most)) : std::nullopt,
      fits);
  for (std::optional<std::int64_t>* size : {&largest.fits, &largest.refused})
    if (*size) **size *= range.factor;
  if (largest.refused && refusals.contains(*largest.refused))
    largest.refusal = refusals.at(*largest.refused);
  if (largest.fits) report_.at_largest = fit(record_at(dimension, *largest.fits), options_.loop);
  report_.largest = std::move(largest);
}

/// True when it saves memory; what does not is no answer, and what the model does not run with is
/// told.
bool Fitting::add_change(const std::string& text, const ModelOptions& changed) {
  try {
    const plan::Fit there = fit(record(changed), changed.loop);
    if (there.wanted.peak_reserved_bytes >= report_.fit.wanted.peak_reserved_bytes) return false;
    report_.changes.push_back({text, there});
    return true;
  } catch (const Error& error) {
    report_.not_tried.push_back({text, error.problem(unspelled)});
    return false;
  }
}

bool Fitting::add_alone(const PossibleChange& change) {
  ModelOptions changed = options_;
  change.apply(changed);
  return add_change(change.text, changed);
}

/// Those that make it fit come first; both kinds stay from the cheapest to the dearest.
void Fitting::add_changes() {
  std::vector<PossibleChange> helpful;
  for (PossibleChange& change : possible_changes(graph_, options_))
    if (add_alone(change)) helpful.push_back(std::move(change));
  add_together(helpful);
  for (const PossibleChange& change : other_recipes(options_)) add_alone(change);
  add_smaller_batch();
  std::ranges::stable_partition(report_.changes,
                                [](const plan::Change& change) { return change.fit.fits(); });
}

/// Where none is enough, the cheapest two, three and so on, until it fits; or else all.
void Fitting::add_together(const std::vector<PossibleChange>& helpful) {
  const auto fits = [](const plan::Change& change) { return change.fit.fits(); };
  if (helpful.size() < 2 || std::ranges::any_of(report_.changes, fits)) return;
  ModelOptions together = options_;
  std::string text;
  std::size_t count = 0;
  for (const PossibleChange& change : helpful) {
    change.apply(together);
    text += (text.empty() ? "" : " ") + change.text;
    if (++count < 2 || !add_change(text, together)) continue;
    if (report_.changes.back().fit.fits()) return;
    if (count < helpful.size()) report_.changes.pop_back();
  }
}

bool Fitting::fits_with(const PossibleChange& change) {
  ModelOptions smaller = options_;
  change.apply(smaller);
  try {
    return plan::fits(record(smaller), options_.step.device, report_.budget, smaller.loop);
  } catch (const Error&) {
    return false;
  }
}

/// The same batch in the fewest parts that fit, a power of two; and the largest batch that does.
void Fitting::add_smaller_batch() {
  const std::optional<BatchDimension> batch = batch_dimension(graph_, options_);
  if (!batch || batch->size <= batch->least) return;
  const auto in_parts = [&](std::int64_t size, int parts) {
    return smaller_batch(batch->name, size, parts);
  };
  const int given_parts = options_.loop.micro_batches;
  if (options_.step.mode != Mode::inference && given_parts == 1)
    for (int parts = 2; batch->size % parts == 0 && batch->size / parts >= batch->least; parts *= 2)
      if (const PossibleChange change = in_parts(batch->size / parts, parts); fits_with(change)) {
        add_alone(change);
        break;
      }
  const auto fits = [&](std::int64_t size) {
    return size >= batch->least && fits_with(in_parts(size, given_parts));
  };
  const plan::LargestSize largest =
      plan::find_largest_size(std::max(batch->size / 2, batch->least), batch->size - 1, fits);
  if (largest.fits) add_alone(in_parts(*largest.fits, given_parts));
}

}  // namespace symprof::cli
