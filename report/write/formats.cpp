#include "report/write/formats.h"

#include <algorithm>
#include <vector>

#include "session/read_text.h"

namespace symprof::report {
namespace {

constexpr settings::Named<Format> all_names[] = {{"table", Format::table},
                                                 {"rows", Format::rows},
                                                 {"stat", Format::stat},
                                                 {"json", Format::json},
                                                 {"csv", Format::csv},
                                                 {"html", Format::html},
                                                 {"markdown", Format::markdown},
                                                 {"dot", Format::dot},
                                                 {"svg", Format::svg},
                                                 {"model-explorer", Format::model_explorer},
                                                 {"memory-snapshot", Format::memory_snapshot},
                                                 {"chrome-trace", Format::chrome_trace},
                                                 {"python", Format::python},
                                                 {"cpp", Format::cpp}};

constexpr std::string_view graphviz = "needs graphviz";

/// In the order of the verbs, the default of each first.
constexpr FormatRow rows[] = {
    {.verb = Verb::profile,
     .format = Format::table,
     .has_formulas = true,
     .has_measurement = true,
     .has_measured_memory = true,
     .peak = PeakTable::on_request},
    {.verb = Verb::profile,
     .format = Format::json,
     .has_formulas = true,
     .has_measurement = true,
     .has_measured_memory = true,
     .peak = PeakTable::always},
    {.verb = Verb::profile, .format = Format::csv, .has_no_warnings = true},
    {.verb = Verb::profile,
     .format = Format::html,
     .has_measurement = true,
     .peak = PeakTable::always},
    {.verb = Verb::profile, .format = Format::markdown},
    {.verb = Verb::profile,
     .format = Format::memory_snapshot,
     .note = "-o FILE, for pytorch.org/memory_viz",
     .file = "snapshot.pickle"},
    {.verb = Verb::profile,
     .format = Format::chrome_trace,
     .note = "the timeline of the step, for ui.perfetto.dev",
     .has_measurement = true,
     .needs_times = true,
     .has_no_warnings = true},
    {.verb = Verb::compare_costs, .format = Format::table},
    {.verb = Verb::compare_costs, .format = Format::json},
    {.verb = Verb::compare_costs, .format = Format::html},
    {.verb = Verb::fit, .format = Format::table},
    {.verb = Verb::fit, .format = Format::json},
    {.verb = Verb::fit,
     .format = Format::csv,
     .note = "a line for each pass of a run over lengths"},
    {.verb = Verb::plan_checkpoint, .format = Format::table},
    {.verb = Verb::plan_checkpoint, .format = Format::json},
    {.verb = Verb::plan_checkpoint, .format = Format::html},
    {.verb = Verb::plan_checkpoint,
     .format = Format::python,
     .note = "a file that applies the plan"},
    {.verb = Verb::plan_checkpoint, .format = Format::cpp, .note = "likewise"},
    {.verb = Verb::plan_throughput, .format = Format::table},
    {.verb = Verb::plan_throughput, .format = Format::json},
    {.verb = Verb::plan_parallel, .format = Format::table},
    {.verb = Verb::plan_parallel, .format = Format::json},
    {.verb = Verb::plan_parallel,
     .format = Format::python,
     .note = "a file that applies the plan under torchrun"},
    {.verb = Verb::measure, .format = Format::table},
    {.verb = Verb::measure, .format = Format::json},
    {.verb = Verb::measure, .format = Format::html},
    {.verb = Verb::devices, .format = Format::table},
    {.verb = Verb::devices, .format = Format::json},
    {.verb = Verb::ops, .format = Format::table},
    {.verb = Verb::ops, .format = Format::json},
    {.verb = Verb::stats, .format = Format::table},
    {.verb = Verb::stats, .format = Format::json},
    {.verb = Verb::stats, .format = Format::csv},
    {.verb = Verb::optimize, .format = Format::table},
    {.verb = Verb::optimize,
     .format = Format::stat,
     .note = "a line STAT for each rule, as experimental-experiment prints them"},
    {.verb = Verb::optimize, .format = Format::json},
    {.verb = Verb::compare, .format = Format::table},
    {.verb = Verb::compare, .format = Format::rows, .note = "the lines of onnx-array-api"},
    {.verb = Verb::compare, .format = Format::json},
    {.verb = Verb::dump, .format = Format::table},
    {.verb = Verb::dump, .format = Format::json},
    {.verb = Verb::restore, .format = Format::table},
    {.verb = Verb::restore, .format = Format::json},
    {.verb = Verb::dot, .format = Format::dot, .note = "graphviz' language"},
    {.verb = Verb::dot, .format = Format::svg, .note = graphviz},
    {.verb = Verb::dot,
     .format = Format::html,
     .note = "a page: pan, zoom, open modules, search, click a node"},
    {.verb = Verb::dot,
     .format = Format::model_explorer,
     .note = "node data for Google's Model Explorer"},
    {.verb = Verb::engine, .format = Format::table},
    {.verb = Verb::engine, .format = Format::json},
    {.verb = Verb::engine, .format = Format::csv, .has_no_warnings = true},
    {.verb = Verb::engine, .format = Format::dot, .note = "for graphviz", .has_no_warnings = true},
    {.verb = Verb::engine, .format = Format::svg, .note = graphviz, .has_no_warnings = true},
    {.verb = Verb::engine, .format = Format::html},
    {.verb = Verb::memory, .format = Format::table},
    {.verb = Verb::memory, .format = Format::json},
    {.verb = Verb::memory, .format = Format::csv},
    {.verb = Verb::memory, .format = Format::html},
    {.verb = Verb::run, .format = Format::table, .has_measured_memory = true},
    {.verb = Verb::run, .format = Format::json, .has_measured_memory = true},
    {.verb = Verb::run, .format = Format::csv},
    {.verb = Verb::run, .format = Format::html},
    {.verb = Verb::run, .format = Format::markdown},
};

}  // namespace

static_assert(std::ranges::is_sorted(rows, {}, &FormatRow::verb));

std::string_view name(Format format) { return settings::name_of(all_names, format); }

std::span<const FormatRow> formats_of(Verb verb) {
  const auto* const first = std::ranges::lower_bound(rows, verb, {}, &FormatRow::verb);
  const auto* const end = std::ranges::upper_bound(rows, verb, {}, &FormatRow::verb);
  return {first, end};
}

const FormatRow& find_format(Verb verb, const std::string& text) {
  std::vector<std::string> accepted;
  for (const FormatRow& row : formats_of(verb)) {
    if (name(row.format) == text) return row;
    accepted.emplace_back(name(row.format));
  }
  settings::reject(SettingRef{"format"}, text, accepted);
}

std::string format_names(Verb verb, bool (*can)(const FormatRow&)) {
  std::vector<settings::Named<bool>> able;
  for (const FormatRow& row : formats_of(verb))
    if (can == nullptr || can(row))
      able.push_back({name(row.format), true, can == nullptr ? row.note : std::string_view()});
  return settings::alternatives(able);
}

}  // namespace symprof::report
