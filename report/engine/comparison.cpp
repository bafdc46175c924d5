#include <algorithm>
#include <iterator>

#include "engine/layer_kinds.h"
#include "report/engine/engine.h"
#include "report/write/format_number.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

using engine::ComparedLayers;

std::string names_of_layers(const EngineReport& report, const std::vector<int>& layers) {
  if (layers.empty()) return "-";
  std::string text =
      fmt::format("{} {}", layers.front(),
                  short_layer_name(report.engine.layers[static_cast<std::size_t>(layers.front())]));
  if (layers.size() > 1) text += fmt::format(" and {} more", layers.size() - 1);
  return text;
}

std::string types_of_layers(const EngineReport& report, const std::vector<int>& layers) {
  return layers.empty() ? ""
                        : precision(report.engine.layers[static_cast<std::size_t>(layers.front())]);
}

TextTable comparison_rows(const EngineReport& before, const EngineReport& after,
                          const std::vector<ComparedLayers>& compared) {
  const bool has_times = before.summary.has_times && after.summary.has_times;
  TextTable table;
  table.columns = {
      {""}, {"A", Align::left, 20}, {"B", Align::left, 20}, {"Precision of A"}, {"Precision of B"}};
  if (has_times) {
    table.columns.push_back({"Time of A", Align::number});
    table.columns.push_back({"Time of B", Align::number});
  }
  for (const ComparedLayers& each : compared) {
    TextRow row;
    row.cells = {{std::string(name(each.kind)), "",
                  each.kind == ComparedLayers::Kind::same ? Emphasis::faint : Emphasis::normal},
                 {names_of_layers(before, each.before)},
                 {names_of_layers(after, each.after)},
                 {types_of_layers(before, each.before)},
                 {types_of_layers(after, each.after)}};
    if (has_times) {
      row.cells.push_back(each.before.empty() ? TextCell{""} : measured_cell(each.before_ms));
      row.cells.push_back(each.after.empty() ? TextCell{""} : measured_cell(each.after_ms));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void write_totals(fmt::memory_buffer& out, const EngineReport& before, const EngineReport& after) {
  for (const EngineReport* side : {&before, &after}) {
    fmt::format_to(std::back_inserter(out), "{:<12} {}", side == &before ? "A" : "B",
                   side->engine.path);
    if (side->summary.has_times)
      fmt::format_to(std::back_inserter(out), "; {}", format_time(side->summary.measured_ms * 1e3));
    out.push_back('\n');
  }
  const auto others = [](const engine::EngineSummary& summary) {
    return summary.kernels.layers - summary.reformats.layers - summary.quantizers.layers;
  };
  const engine::EngineSummary &a = before.summary, &b = after.summary;
  fmt::format_to(
      std::back_inserter(out),
      "{:<12} {} → {}: quantizers alone {} → {}, reformats {} → {}, other kernels {} → {}, without "
      "a kernel {} → {}\n",
      "layers", a.layers.size(), b.layers.size(), a.quantizers.layers, b.quantizers.layers,
      a.reformats.layers, b.reformats.layers, others(a), others(b),
      std::ssize(a.layers) - a.kernels.layers, std::ssize(b.layers) - b.kernels.layers);
}

/// The layers of this side that have no counterpart.
std::vector<int> layers_alone(const std::vector<ComparedLayers>& compared, bool is_before) {
  std::vector<int> alone;
  for (const ComparedLayers& each : compared) {
    const std::vector<int>& own = is_before ? each.before : each.after;
    if ((is_before ? each.after : each.before).empty())
      alone.insert(alone.end(), own.begin(), own.end());
  }
  return alone;
}

std::string time_of_layers(const EngineReport& report, const std::vector<int>& layers) {
  const auto ms = measured_ms(report.summary, layers);
  return ms ? format_time(*ms * 1e3) + " in " : "";
}

/// "reformat of x: Half NC/4HW4 → Half NHWC" for a layer without a cause.
std::string unknown_text(const engine::Layer& layer) {
  std::string text = short_layer_name(layer);
  if (is_reformat(layer) && layer.inputs.size() == 1 && layer.outputs.size() == 1)
    text += fmt::format(", from {} to {}", layer.inputs[0].layout, layer.outputs[0].layout);
  return text;
}

/// Why an engine has layers that the other lacks, from the causes of unnecessary kernels; the rest
/// by their names.
void write_alone(fmt::memory_buffer& out, std::string_view title, const EngineReport& report,
                 std::vector<int> alone) {
  if (alone.empty()) return;
  fmt::format_to(std::back_inserter(out), "\n{} alone has {}{}:\n", title,
                 time_of_layers(report, alone), layer_numbers(alone));
  for (const engine::Cause& cause : report.causes) {
    std::vector<int> here;
    std::ranges::copy_if(alone, std::back_inserter(here), [&](int layer) {
      return std::ranges::find(cause.layers, layer) != cause.layers.end();
    });
    if (here.empty()) continue;
    fmt::format_to(std::back_inserter(out), "  {}{}: {}.\n", time_of_layers(report, here),
                   layer_numbers(here), cause.what);
    std::erase_if(alone, [&](int layer) { return std::ranges::binary_search(here, layer); });
  }
  for (const int layer : alone)
    fmt::format_to(std::back_inserter(out), "  {}{}: {}.\n", time_of_layers(report, {layer}),
                   layer_numbers({layer}),
                   unknown_text(report.engine.layers[static_cast<std::size_t>(layer)]));
}

void write_side(JsonWriter& json, std::string_view name, const EngineReport& report) {
  json.line(2);
  json.key(name);
  json.begin_object();
  json.member("path", report.engine.path);
  json.member("layers", report.summary.kernels.layers);
  json.member("measured_ms",
              report.summary.has_times ? std::optional(report.summary.measured_ms) : std::nullopt);
  json.end_object();
}

}  // namespace

void write_engine_comparison(fmt::memory_buffer& out, const EngineReport& before,
                             const EngineReport& after, const Layout& layout) {
  const std::vector<ComparedLayers> compared =
      compare(before.engine, before.summary, after.engine, after.summary);
  write(out, comparison_rows(before, after, compared), layout);
  out.push_back('\n');
  write_totals(out, before, after);
  for (const ComparedLayers::Kind kind :
       {ComparedLayers::Kind::same, ComparedLayers::Kind::similar, ComparedLayers::Kind::regrouped,
        ComparedLayers::Kind::only_one})
    if (const auto count = std::ranges::count(compared, kind, &ComparedLayers::kind); count > 0)
      fmt::format_to(std::back_inserter(out), "{:<12} {}\n", name(kind), count);
  write_alone(out, "A", before, layers_alone(compared, true));
  write_alone(out, "B", after, layers_alone(compared, false));
  for (const EngineReport* side : {&before, &after})
    for (const std::string& warning : side->summary.warnings)
      fmt::format_to(std::back_inserter(out), "{:<12} {}: {}\n", "warning", side->engine.path,
                     warning);
}

void write_engine_comparison_json(fmt::memory_buffer& out, const EngineReport& before,
                                  const EngineReport& after) {
  JsonWriter json(out);
  json.begin_object();
  json.line(2);
  json.member("schema", "symprof.engines/1");
  write_side(json, "before", before);
  write_side(json, "after", after);
  json.line(2);
  json.key("compared");
  json.begin_array();
  for (const ComparedLayers& each :
       compare(before.engine, before.summary, after.engine, after.summary)) {
    json.line(4);
    json.begin_object();
    json.member("kind", name(each.kind));
    json.list("before", each.before);
    json.list("after", each.after);
    json.member("before_ms", each.before_ms);
    json.member("after_ms", each.after_ms);
    json.end_object();
  }
  json.closing_line(2);
  json.end_array();
  json.line(2);
  json.key("warnings");
  json.begin_array();
  for (const EngineReport* side : {&before, &after})
    for (const std::string& warning : side->summary.warnings) json.value(warning);
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report
