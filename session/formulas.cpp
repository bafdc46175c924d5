#include "session/formulas.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "trace/graph/named_sizes.h"

namespace symprof {
namespace {

/// Start size where neither the settings nor the file have one: at its multiples the rounding of
/// attention kernels (to 128) and of memory (to 512 bytes) does not show.
constexpr std::int64_t usual_start = 128;

/// Multiples of more, and products of two of them, would not fit into 64 bits.
constexpr std::int64_t largest_start = std::int64_t{1} << 27;

/// The dimensions of a model file that formulas are wanted for.
class FileDimensions {
 public:
  FileDimensions(Session& session, const Settings& settings, const FormulaQuestion& question)
      : session_(session), settings_(settings), question_(question) {}

  /// `sizes` of the dimensions, in their order.
  PreparedModel at(const plan::Sizes& sizes) const {
    Settings sized = settings_;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      set_size(sized, question_.dimensions[i], sizes[i]);
    return session_.prepare(sized);
  }

  /// The variables, and the settings as they run. Throws Error about a name that the model does not
  /// have.
  SizedModel model() const {
    plan::Sizes start;
    for (const std::string& name : question_.dimensions)
      start.push_back(given_size(settings_, name).value_or(usual_start));
    PreparedModel bound = bind(start);
    SizedModel model{.settings = std::move(bound.settings)};
    model.settings.sizes = settings_.sizes;
    for (std::size_t i = 0; i < start.size(); ++i)
      model.variables.push_back(variable(question_.dimensions[i], start[i], bound.graph));
    return model;
  }

 private:
  plan::Variable variable(const std::string& name, std::int64_t size, const Graph& bound) const {
    plan::Variable variable{name, given_size(settings_, name) ? size : example_size(bound, name)};
    const SymbolRange range = trace::range_of(bound, trace::symbol_of(bound, name));
    variable.least = std::max(variable.least, range.least);
    variable.most = range.most;
    variable.start = std::max(variable.start, variable.least);
    if (variable.most) variable.start = std::min(variable.start, *variable.most);
    if (variable.start > largest_start)
      throw Error(SettingRef{"symbolic", name}, fmt::format("{} is too large to start from", size),
                  fmt::format("Give a smaller one: {}.", setting("sizes", name + "=128")));
    return variable;
  }

  /// Says which names are wrong.
  PreparedModel bind(const plan::Sizes& start) const {
    try {
      return at(start);
    } catch (const Error& error) {
      for (const std::string& name : question_.dimensions)
        if (error.is_about("sizes", name)) throw error.at(SettingRef{"symbolic", name});
      throw;
    }
  }

  /// The size in the exported file. `bound` has the names from the settings.
  std::int64_t example_size(const Graph& bound, const std::string& name) const {
    if (session_.file() == nullptr) return usual_start;
    for (const ValueId id : bound.inputs) {
      const Value& input = bound.values[static_cast<std::size_t>(id)];
      const Value& example = session_.file()->values[static_cast<std::size_t>(id)];
      for (std::size_t i = 0; i < input.dimensions.size(); ++i)
        if (trace::is_called(input, i, trace::resolved_name(bound, name)) &&
            i < example.dimensions.size() && example.dimensions[i].size > 0)
          return example.dimensions[i].size;
    }
    return usual_start;
  }

  Session& session_;
  const Settings& settings_;
  const FormulaQuestion& question_;
};

class FormulaSearch {
 public:
  FormulaSearch(const SizedModel& model, const FormulaQuestion& question)
      : model_(model), question_(question) {}

  FormulaAnswer run() {
    const auto measure_at = [&](const plan::Sizes& sizes) { return measure(sizes); };
    answer_.settings = model_.settings;
    answer_.found = plan::find_formulas(model_.variables, measure_at);
    if (question_.requested_peak &&
        !answer_.found.formulas.at(*question_.requested_peak).polynomial)
      answer_.moments = plan::find_peak_moments(model_.variables, requested_, measure_at);
    if (answer_.first.time) answer_.times = find_time_curves(model_);
    return std::move(answer_);
  }

 private:
  std::vector<std::int64_t> measure(const plan::Sizes& sizes) {
    Profile profile = model_.profile_at(sizes);
    const Settings& settings = model_.settings;
    requested_[sizes] =
        plan::requested_by_call(profile.recording, settings.step.device, settings.loop);
    profile.totals.peak_requested_bytes = std::ranges::max(requested_[sizes]);
    answer_.peaks[sizes] = peak_of(profile);
    std::vector<std::int64_t> figures = question_.figures(profile);
    if (answer_.first.nodes.empty()) answer_.first = std::move(profile);
    return figures;
  }

  static SizedPeak peak_of(const Profile& profile) {
    SizedPeak peak{.call = profile.memory.peak_call,
                   .requested_bytes = *profile.totals.peak_requested_bytes,
                   .allocated_bytes = profile.totals.peak_allocated_bytes,
                   .reserved_bytes = profile.totals.peak_reserved_bytes};
    if (peak.call == none) return peak;
    const CallRecord& call = profile.recording.calls[static_cast<std::size_t>(peak.call)];
    const NodeRecord& node = profile.recording.nodes[static_cast<std::size_t>(call.node)];
    peak.phase = call.phase;
    peak.node = node.name;
    peak.module = node.module;
    return peak;
  }

  const SizedModel& model_;
  const FormulaQuestion& question_;
  std::map<plan::Sizes, plan::BytesByCall> requested_;
  FormulaAnswer answer_;
};

}  // namespace

FormulaAnswer find_formulas(const SizedModel& model, const FormulaQuestion& question) {
  return FormulaSearch(model, question).run();
}

FormulaAnswer find_formulas(Session& session, const Settings& settings,
                            const FormulaQuestion& question) {
  const FileDimensions dimensions(session, settings, question);
  SizedModel model = dimensions.model();
  model.profile_at = [&](const plan::Sizes& sizes) {
    return session.profile(dimensions.at(sizes));
  };
  return find_formulas(model, question);
}

}  // namespace symprof
