#include "cli/symbolic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "cli/command.h"
#include "cli/model.h"
#include "cli/option_spelling.h"
#include "report/formulas.h"
#include "report/memory_text.h"

namespace symprof::cli {
namespace {

/// Where neither --set nor the file has a size: the rounding of attention kernels (to 128) and of
/// memory (to 512 bytes) does not show at its multiples.
constexpr std::int64_t usual_start = 128;

/// Multiples of more, and products of two of them, would not fit into 64 bits.
constexpr std::int64_t largest_start = std::int64_t{1} << 27;

class SymbolicProfile {
 public:
  explicit SymbolicProfile(const ProfileOptions& options)
      : options_(options), model_(torch_, options.model) {
    for (const std::string& name : options_.symbolic) start_.emplace_back(name, usual_start);
  }

  report::FormulaReport run() {
    const std::vector<plan::Variable> variables = find_variables();
    const auto measure_at = [&](const plan::Sizes& sizes) { return measure(sizes); };
    report_.found = plan::find_formulas(variables, measure_at);
    if (!report_.found.formulas[report::index_of_total("peak_requested_bytes")].polynomial)
      report_.moments = plan::find_peak_moments(variables, requested_, measure_at);
    return std::move(report_);
  }

  const StepOptions& step() const { return model_.options().step; }

 private:
  std::vector<plan::Variable> find_variables() {
    for (auto& [name, size] : start_) size = given_size(options_.model, name).value_or(size);
    const Graph bound = bind_start();
    std::vector<plan::Variable> variables;
    for (const auto& [name, size] : start_) {
      plan::Variable variable{name,
                              given_size(options_.model, name) ? size : example_size(bound, name)};
      const SymbolRange range = range_of(bound, symbol_of(bound, name));
      variable.least = std::max(variable.least, range.least);
      variable.most = range.most;
      variable.start = std::max(variable.start, variable.least);
      if (variable.most) variable.start = std::min(variable.start, *variable.most);
      if (variable.start > largest_start)
        throw Error(SettingRef{"symbolic", name},
                    fmt::format("{} is too large to start from", size),
                    fmt::format("Give a smaller one: {}.", setting("sizes", name + "=128")));
      variables.push_back(std::move(variable));
    }
    return variables;
  }

  /// Says which names are wrong.
  Graph bind_start() {
    try {
      return model_.at(start_);
    } catch (const Error& error) {
      for (const auto& [name, size] : start_)
        if (error.is_about("sizes", name)) throw error.at(SettingRef{"symbolic", name});
      throw;
    }
  }

  /// What the file was exported with. `bound` has the names that --input gives.
  std::int64_t example_size(const Graph& bound, const std::string& name) const {
    if (model_.unbound())
      for (const ValueId id : bound.inputs) {
        const Value& input = bound.values[id];
        const Value& example = model_.unbound()->values[id];
        for (std::size_t i = 0; i < input.dimensions.size(); ++i)
          if (is_called(input, i, name) && i < example.dimensions.size() &&
              example.dimensions[i].size > 0)
            return example.dimensions[i].size;
      }
    return usual_start;
  }

  std::vector<std::int64_t> measure(const plan::Sizes& sizes) {
    Bindings bindings = start_;
    for (std::size_t i = 0; i < sizes.size(); ++i) bindings[i].second = sizes[i];
    const Graph graph = model_.at(bindings);
    Profile profile = profile::evaluate(torch_.get().propagate(graph, step()), step().device,
                                        options_.model.loop);
    requested_[sizes] =
        plan::requested_by_call(profile.recording, step().device, options_.model.loop);
    profile.totals.peak_requested_bytes = std::ranges::max(requested_[sizes]);
    report_.peaks[sizes] = {.place = report::call_text(profile.memory.peak_call, profile.recording),
                            .requested_bytes = *profile.totals.peak_requested_bytes,
                            .allocated_bytes = profile.totals.peak_allocated_bytes,
                            .reserved_bytes = profile.totals.peak_reserved_bytes};
    if (report_.list.as_run.empty())
      report_.list = report::list_figures(profile, options_.rows, options_.columns);
    std::vector<std::int64_t> figures = report::figures(profile, report_.list);
    if (report_.first.nodes.empty()) report_.first = std::move(profile);
    return figures;
  }

  const ProfileOptions& options_;
  TorchLibrary torch_;  // Starts while the file is read.
  SizedModel model_;
  Bindings start_;
  std::map<plan::Sizes, plan::BytesByCall> requested_;
  report::FormulaReport report_;
};

}  // namespace

int profile_symbolically(const ProfileOptions& options, ProgressBar& progress) {
  SymbolicProfile profile(options);
  const report::FormulaReport report = profile.run();
  fmt::memory_buffer out;
  if (options.format == ProfileFormat::json)
    report::write_formulas_json(out, report, profile.step(), spell_as_option);
  else
    report::write_formulas(out, report, profile.step(), options.columns, layout_of(options.output));
  progress.clear();
  write_output(options.output, {out.data(), out.size()});
  return done;
}

}  // namespace symprof::cli
