#include <algorithm>
#include <cmath>

#include "engine/modules.h"
#include "engine/names.h"
#include "report/engine/engine.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

using engine::LayerFigures;

TextCell unknown_figure() { return {"?", "", Emphasis::alert}; }

TextCell moved_cell(std::int64_t bytes) {
  const Quantity scaled = scale_bytes(bytes, Precision::decimals);
  return {scaled.number, scaled.unit};
}

TextCell moved_cell(const LayerFigures& layer) {
  if (!layer.has_kernel) return {""};
  const std::optional<std::int64_t> bytes = bytes_moved(layer);
  return bytes ? moved_cell(*bytes) : unknown_figure();
}

void add_time_columns(const EngineReport& report, TextTable& table) {
  if (!report.summary.has_times) return;
  table.columns.push_back({"Time", Align::number});
  table.columns.push_back({"Share", Align::number});
}

void add_times(const EngineReport& report, const std::optional<double>& milliseconds,
               TextRow& row) {
  if (!report.summary.has_times) return;
  const double sum = report.summary.measured_ms;
  row.cells.push_back(measured_cell(milliseconds));
  row.cells.push_back(milliseconds && sum > 0
                          ? TextCell{fmt::format("{:.1f}", 100 * *milliseconds / sum), "%"}
                          : TextCell{""});
}

constexpr int longest_name = 72;

/// "a + b + 3 more": as many pieces as fit.
std::string joined(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0 && text.size() + pieces[i].size() > longest_name)
      return text + fmt::format("{}{} more", separator, pieces.size() - i);
    if (i > 0) text += separator;
    text += shorten(pieces[i], longest_name);
  }
  return text;
}

/// Fused layers have names of hundreds of letters, which JSON and CSV have in full. Helpers are
/// left out: the node that they serve is named as well.
std::string short_name(const std::string& name) {
  std::vector<std::string> pieces;
  for (const engine::NameTerm& term : engine::name_terms(name))
    if (term.kind == engine::NameTerm::Kind::node) pieces.push_back(term.text);
  return pieces.size() < 2 ? shorten(name, longest_name) : joined(pieces, " + ");
}

Emphasis emphasis_of(const LayerFigures& layer) {
  if (!layer.has_kernel) return Emphasis::faint;
  return layer.is_reformat || layer.is_quantizer ? Emphasis::alert : Emphasis::normal;
}

void add_cost_columns(const EngineReport& report, TextTable& table) {
  if (!report.costs) return;
  if (report.map) table.columns.push_back({"FLOPs", Align::number});
  table.columns.push_back({"Estimated", Align::number});
  table.columns.push_back({"Least", Align::number});
  if (report.summary.has_times) table.columns.push_back({"Of peak", Align::number});
}

/// A layer that is faster than the data sheet allows kept tensors in a cache.
void add_costs(const EngineReport& report, std::size_t layer, TextRow& row) {
  if (!report.costs) return;
  const engine::LayerCost& cost = report.costs->layers[layer];
  const LayerFigures& figures = report.summary.layers[layer];
  const auto put = [&](TextCell cell) {
    row.cells.push_back(figures.has_kernel ? std::move(cell) : TextCell{""});
  };
  if (report.map) {
    const Quantity flops = scale_count(cost.flops.value_or(0), Precision::decimals);
    put(cost.flops ? TextCell{flops.number, flops.unit} : unknown_figure());
  }
  put(measured_cell(cost.estimated_ms));
  put(measured_cell(cost.least_ms));
  const bool has_share = cost.least_ms && figures.measured_ms && *figures.measured_ms > 0;
  if (report.summary.has_times)
    put(has_share
            ? TextCell{fmt::format("{:.0f}", 100 * *cost.least_ms / *figures.measured_ms), "%"}
            : unknown_figure());
}

/// "Q, 2 DQ, Conv, Relu": the operators of a layer's nodes, each once with how many it has.
std::string operators_of(const EngineReport& report, std::size_t layer) {
  std::vector<std::pair<std::string_view, int>> counts;
  for (const int node : report.map->layers[layer].nodes) {
    const engine::ModelNode& found = report.model->nodes[static_cast<std::size_t>(node)];
    const std::string_view op = is_quantizer(found)     ? std::string_view("Q")
                                : is_dequantizer(found) ? std::string_view("DQ")
                                                        : std::string_view(found.op);
    const auto known = std::ranges::find(counts, op, &std::pair<std::string_view, int>::first);
    if (known == counts.end())
      counts.emplace_back(op, 1);
    else
      ++known->second;
  }
  std::vector<std::string> pieces;
  pieces.reserve(counts.size());
  for (const auto& [op, count] : counts)
    pieces.push_back(count > 1 ? fmt::format("{} {}", count, op) : std::string(op));
  return joined(pieces, ", ");
}

std::string layer_list(const EngineReport& report, const engine::NodeMapping& mapping) {
  std::string text;
  for (const engine::Assignment& each : mapping.layers) {
    if (!text.empty()) text += ", ";
    const engine::Layer& layer = report.engine.layers[static_cast<std::size_t>(each.layer)];
    text += fmt::format("{} {}", each.layer, layer.type);
  }
  return text.empty() ? mapping.reason : text;
}

}  // namespace

TextCell measured_cell(const std::optional<double>& milliseconds) {
  if (!milliseconds) return unknown_figure();
  const Quantity scaled =
      scale_time(static_cast<std::int64_t>(std::llround(*milliseconds * 1e6)), Precision::decimals);
  return {scaled.number, scaled.unit, *milliseconds == 0 ? Emphasis::faint : Emphasis::normal};
}

std::string short_layer_name(const engine::Layer& layer) {
  const auto reformat = engine::reformat_name(layer.name);
  if (!reformat) return short_name(layer.name);
  return fmt::format("reformat of {} {} of {}", reformat->is_input ? "input" : "output",
                     reformat->tensor, short_name(reformat->layer));
}

TextTable engine_layer_rows(const EngineReport& report) {
  TextTable table;
  table.columns = {{"#", Align::number},
                   {"Layer", Align::left, 24},
                   {"Type"},
                   {"Precision"},
                   {"Moved", Align::number}};
  add_time_columns(report, table);
  add_cost_columns(report, table);
  if (report.map) table.columns.push_back({"Operators of its nodes"});
  table.rows.reserve(report.engine.layers.size());
  for (std::size_t i = 0; i < report.engine.layers.size(); ++i) {
    const engine::Layer& layer = report.engine.layers[i];
    const LayerFigures& figures = report.summary.layers[i];
    TextRow row;
    row.cells = {{std::to_string(i)},
                 {short_layer_name(layer), "", emphasis_of(figures)},
                 {layer.type.empty() ? "?" : layer.type},
                 {engine::precision(layer)},
                 moved_cell(figures)};
    add_times(report, figures.measured_ms, row);
    add_costs(report, i, row);
    if (report.map) row.cells.push_back({operators_of(report, i)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

TextTable engine_node_rows(const EngineReport& report) {
  TextTable table;
  table.columns = {{"Node", Align::left, 24}, {"Operator"}, {"Became"}, {"Layers"}, {"By"}, {""}};
  if (report.summary.has_times) table.columns.push_back({"Time of layers", Align::number});
  table.rows.reserve(report.model->nodes.size());
  for (std::size_t i = 0; i < report.model->nodes.size(); ++i) {
    const engine::NodeMapping& mapping = report.map->nodes[i];
    const bool is_placed = !mapping.layers.empty();
    TextRow row;
    row.cells = {{shorten(report.model->nodes[i].name, longest_name)},
                 {report.model->nodes[i].op},
                 {std::string(name(mapping.mapping)), "",
                  mapping.mapping == engine::Mapping::unknown ? Emphasis::alert : Emphasis::normal},
                 {layer_list(report, mapping)},
                 {is_placed ? std::string(name(mapping.layers.front().rule)) : ""},
                 {is_placed ? std::string(name(mapping.layers.front().certainty)) : ""}};
    if (report.summary.has_times)
      row.cells.push_back(is_placed ? measured_cell(measured_ms(report.summary, mapping.layers,
                                                                &engine::Assignment::layer))
                                    : TextCell{""});
    table.rows.push_back(std::move(row));
  }
  return table;
}

TextTable engine_module_rows(const EngineReport& report, int depth) {
  TextTable table;
  table.columns = {{"Module", Align::left, 24},
                   {"Layers", Align::number},
                   {"Nodes", Align::number},
                   {"Moved", Align::number}};
  add_time_columns(report, table);
  for (const engine::ModuleRow& module :
       fold_by_module(report.summary, *report.model, *report.map, depth)) {
    const engine::LayerGroup& group = module.layers;
    TextRow row;
    row.cells = {{module.module.empty() ? "(no module)" : module.module},
                 {group_digits(group.layers)},
                 {group_digits(module.nodes)},
                 moved_cell(group.bytes)};
    if (group.layers_of_unknown_bytes == group.layers)
      row.cells.back() = unknown_figure();
    else if (group.layers_of_unknown_bytes)
      row.cells.back().text = ">" + row.cells.back().text;
    add_times(report,
              group.timed_layers < group.layers ? std::nullopt : std::optional(group.measured_ms),
              row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace symprof::report
