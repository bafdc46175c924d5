#include <algorithm>
#include <iterator>
#include <utility>

#include "report/engine/engine.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

using engine::LayerGroup;

std::string share_text(double part, double whole) {
  return whole > 0 ? fmt::format(" ({:.1f} %)", 100 * part / whole) : "";
}

/// "12 layers, 46.08 µs (4.2 %), 77.00 MiB moved".
std::string group_text(const LayerGroup& group, const engine::EngineSummary& summary) {
  std::string text =
      fmt::format("{} layer{}", group_digits(group.layers), group.layers == 1 ? "" : "s");
  if (summary.has_times) {
    text += fmt::format(", {}{}", format_time(group.measured_ms * 1e3),
                        share_text(group.measured_ms, summary.measured_ms));
    if (group.timed_layers < group.layers)
      text += fmt::format(" and {} without a time", group.layers - group.timed_layers);
  }
  if (group.layers == group.layers_of_unknown_bytes) return text + ", bytes not known";
  text += fmt::format(", {} moved", format_bytes(group.bytes));
  if (group.layers_of_unknown_bytes)
    text += fmt::format(" and {} of unknown size", group.layers_of_unknown_bytes);
  return text;
}

/// "37 layers, 2 without a kernel".
std::string layer_counts(const EngineReport& report) {
  const auto layers = static_cast<std::int64_t>(report.engine.layers.size());
  const std::string text = fmt::format("{} layer{}", group_digits(layers), layers == 1 ? "" : "s");
  if (report.summary.untyped_layers == layers)
    return text + ", of types that the file does not give";
  return text +
         fmt::format(", {} without a kernel", group_digits(layers - report.summary.kernels.layers));
}

/// "172 in the model; in kernels: 169; views without a kernel: 3".
std::string node_counts(const engine::NodeMap& map) {
  using engine::Mapping;
  const auto count = [&](Mapping mapping) {
    return std::ranges::count(map.nodes, mapping, &engine::NodeMapping::mapping);
  };
  std::string text = fmt::format("{} in the model", map.nodes.size());
  for (const auto& [mapping, words] : {std::pair{Mapping::kernel, "in kernels"},
                                       {Mapping::view, "views without a kernel"},
                                       {Mapping::folded, "folded"},
                                       {Mapping::sizes, "for sizes"},
                                       {Mapping::unknown, "not found"}})
    if (count(mapping)) text += fmt::format("; {}: {}", words, group_digits(count(mapping)));
  return text;
}

/// The roofline bound, as in "0.42 ms on NVIDIA A100 PCIe 80 GB by its data sheet, 39 % of what was
/// measured".
std::string least_text(const EngineReport& report) {
  const engine::EngineCosts& costs = *report.costs;
  std::string text =
      fmt::format("{} on {} by its data sheet", format_time(costs.least_ms * 1e3), costs.device);
  if (costs.measured_ms > 0)
    text +=
        fmt::format(", {:.0f} % of what was measured", 100 * costs.least_ms / costs.measured_ms);
  if (costs.unknown_layers)
    text += fmt::format("; {} layers of unknown size are excluded", costs.unknown_layers);
  if (report.map) text += "; " + format_count(costs.flops, "FLOPs");
  if (costs.other_flops)
    text += ", and " + format_count(costs.other_flops, "FLOPs") + " of nodes in no layer";
  return text;
}

/// The estimate: "0.98 ms, 89 % of what was measured; without an estimate, and excluded: 3".
std::string estimated_text(const engine::EngineCosts& costs) {
  std::string text = format_time(costs.estimated_ms * 1e3);
  if (costs.estimated_measured_ms > 0)
    text += fmt::format(", {:.0f} % of what was measured",
                        100 * costs.estimated_ms / costs.estimated_measured_ms);
  if (costs.unestimated_layers)
    text += fmt::format("; without an estimate, and excluded: {}",
                        group_digits(costs.unestimated_layers));
  return text;
}

/// "With layer 3 175.10 µs; fused, 60.20 µs at least."; empty without such a layer.
std::string fused_text(const engine::Cause& cause) {
  if (cause.partners.empty() || !cause.ideal_ms) return "";
  const std::string ideal = format_time(*cause.ideal_ms * 1e3);
  const std::string partners = layer_numbers(cause.partners);
  if (!cause.group_ms) return fmt::format("Fused with {}, {} at least.", partners, ideal);
  return fmt::format("With {}, {}; fused, {} at least.", partners,
                     format_time(*cause.group_ms * 1e3), ideal);
}

}  // namespace

std::string layer_numbers(const std::vector<int>& layers) {
  std::string text = layers.size() == 1 ? "layer " : "layers ";
  for (std::size_t i = 0; i < layers.size(); ++i)
    text += fmt::format("{}{}", i ? ", " : "", layers[i]);
  return text;
}

void write_engine_causes(fmt::memory_buffer& out, const EngineReport& report) {
  if (report.causes.empty()) return;
  out.append(std::string_view("\nKernels that another model would not need:\n"));
  for (const engine::Cause& cause : report.causes) {
    const std::string time =
        cause.measured_ms ? format_time(*cause.measured_ms * 1e3) + " in " : "";
    fmt::format_to(std::back_inserter(out), "  {}{}: {}.\n", time, layer_numbers(cause.layers),
                   cause.what);
    if (const std::string fused = fused_text(cause); !fused.empty())
      fmt::format_to(std::back_inserter(out), "    {}\n", fused);
    if (!cause.change.empty()) fmt::format_to(std::back_inserter(out), "    {}\n", cause.change);
  }
}

namespace {

/// "25 of 25 layers with a kernel, in the model".
std::string resolved_text(const EngineReport& report) {
  std::int64_t resolved = 0;
  for (std::size_t i = 0; i < report.map->layers.size(); ++i)
    resolved += report.summary.layers[i].has_kernel && report.map->layers[i].is_resolved();
  return fmt::format("{} of {} layers with a kernel, in the model", group_digits(resolved),
                     group_digits(report.summary.kernels.layers));
}

}  // namespace

std::string engine_title(const EngineReport& report) {
  return fmt::format("{}; from {}", layer_counts(report), report.engine.form);
}

void write_engine_footer(fmt::memory_buffer& out, const EngineReport& report) {
  const engine::Engine& engine = report.engine;
  const engine::EngineSummary& summary = report.summary;
  const auto line = [&](std::string_view name, const std::string& text) {
    fmt::format_to(std::back_inserter(out), "{:<12} {}\n", name, text);
  };
  if (!engine.version.empty()) line("TensorRT", engine.version);
  line(summary.untyped_layers ? "layers" : "kernels", group_text(summary.kernels, summary));
  if (summary.layers_of_unknown_weights)
    line("weights", fmt::format("of {} generated kernels are excluded: the engine does not say how "
                                "large they are",
                                group_digits(summary.layers_of_unknown_weights)));
  if (summary.reformats.layers) line("reformats", group_text(summary.reformats, summary));
  if (summary.quantizers.layers)
    line("quantizers",
         group_text(summary.quantizers, summary) + ": Q and DQ that no layer took in");
  if (summary.has_times)
    line("measured",
         format_time(summary.measured_ms * 1e3) + " for one run, the sum of its layers" +
             (summary.runs ? fmt::format(", mean of {} run{}", group_digits(summary.runs),
                                         summary.runs == 1 ? "" : "s")
                           : ""));
  if (report.costs) {
    line("estimated", estimated_text(*report.costs));
    line("least", least_text(report));
  }
  if (report.map) {
    line("nodes", node_counts(*report.map));
    line("found", resolved_text(report));
  }
  for (const std::string& warning : summary.warnings) line("warning", warning);
}

void write_engine_table(fmt::memory_buffer& out, const EngineReport& report,
                        const EngineRowOptions& rows, const Layout& layout) {
  fmt::format_to(std::back_inserter(out), "{}: {}.\n\n",
                 emphasize(report.engine.path, Emphasis::strong, layout.color),
                 engine_title(report));
  write(out,
        rows.by == EngineRows::node     ? engine_node_rows(report)
        : rows.by == EngineRows::module ? engine_module_rows(report, rows.depth)
                                        : engine_layer_rows(report),
        layout);
  out.push_back('\n');
  write_engine_footer(out, report);
  write_engine_causes(out, report);
}

}  // namespace symprof::report
