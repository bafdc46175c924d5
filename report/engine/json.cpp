#include "engine/layer_kinds.h"
#include "report/engine/engine.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

using engine::LayerGroup;
using engine::Tensor;

void write_tensors(JsonWriter& json, std::string_view name, const std::vector<Tensor>& tensors) {
  json.key(name);
  json.begin_array();
  for (const Tensor& tensor : tensors) {
    json.begin_object();
    json.member("name", tensor.name);
    json.list("sizes", tensor.dimensions);
    json.member("dtype", tensor.dtype);
    json.member("layout", tensor.layout);
    json.member("bytes", engine::bytes(tensor));
    json.end_object();
  }
  json.end_array();
}

void write_assignment(JsonWriter& json, const engine::Assignment& found) {
  json.member("rule", name(found.rule));
  json.member("certainty", name(found.certainty));
}

/// The nodes of a layer, and the layer that it belongs to if it has none.
void write_layer_nodes(JsonWriter& json, const EngineReport& report, std::size_t index) {
  const engine::LayerNodes& found = report.map->layers[index];
  json.key("nodes");
  json.begin_array();
  for (const int node : found.nodes) {
    const auto place = static_cast<std::size_t>(node);
    json.begin_object();
    json.member("name", report.model->nodes[place].name);
    for (const engine::Assignment& each : report.map->nodes[place].layers)
      if (each.layer == static_cast<int>(index)) write_assignment(json, each);
    json.end_object();
  }
  json.end_array();
  const auto number = [](int value) {
    return value < 0 ? std::nullopt : std::optional<std::int64_t>(value);
  };
  json.member("owner", number(found.owner));
  json.member("region", found.region);
  json.key("serves");
  if (found.serves < 0)
    json.null();
  else
    json.value(report.model->nodes[static_cast<std::size_t>(found.serves)].name);
}

void write_layer(JsonWriter& json, const EngineReport& report, std::size_t index) {
  const engine::Layer& layer = report.engine.layers[index];
  const engine::LayerFigures& figures = report.summary.layers[index];
  json.begin_object();
  json.member("layer", static_cast<std::int64_t>(index));
  json.member("name", layer.name);
  json.member("type", layer.type);
  json.member("origin", layer.origin);
  json.member("tactic", layer.tactic);
  json.member("has_kernel", figures.has_kernel);
  json.member("is_reformat", figures.is_reformat);
  json.member("is_quantizer", figures.is_quantizer);
  write_tensors(json, "inputs", layer.inputs);
  write_tensors(json, "outputs", layer.outputs);
  json.member("bytes_read", figures.bytes_read);
  json.member("bytes_written", figures.bytes_written);
  json.member("measured_ms", figures.measured_ms);
  if (report.costs) {
    const engine::LayerCost& cost = report.costs->layers[index];
    json.member("flops", cost.flops);
    json.member("least_ms", cost.least_ms);
    json.member("limit", cost.limit);
    json.member("estimated_ms", cost.estimated_ms);
    json.member("estimated_low_ms", cost.estimated_low_ms);
    json.member("estimated_high_ms", cost.estimated_high_ms);
  }
  if (report.map) write_layer_nodes(json, report, index);
  json.end_object();
}

void write_node(JsonWriter& json, const EngineReport& report, std::size_t index) {
  const engine::ModelNode& node = report.model->nodes[index];
  const engine::NodeMapping& mapping = report.map->nodes[index];
  json.begin_object();
  json.member("name", node.name);
  json.member("op", node.op);
  json.member("module", node.module);
  json.member("fate", name(mapping.mapping));
  json.member("reason", mapping.reason);
  json.member("quantizer",
              quantizer_role(report.engine, *report.model, *report.map, static_cast<int>(index)));
  json.key("layers");
  json.begin_array();
  for (const engine::Assignment& each : mapping.layers) {
    json.begin_object();
    json.member("layer", each.layer);
    write_assignment(json, each);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_nodes(JsonWriter& json, const EngineReport& report) {
  json.line(2);
  json.key("nodes");
  if (!report.map) return json.null();
  json.begin_array();
  for (std::size_t i = 0; i < report.model->nodes.size(); ++i) {
    json.line(4);
    write_node(json, report, i);
  }
  json.closing_line(2);
  json.end_array();
}

void write_group(JsonWriter& json, std::string_view name, const LayerGroup& group, bool has_times) {
  json.line(4);
  json.key(name);
  json.begin_object();
  json.member("layers", group.layers);
  json.member("bytes", group.bytes);
  json.member("layers_of_unknown_bytes", group.layers_of_unknown_bytes);
  json.member("measured_ms", has_times ? std::optional(group.measured_ms) : std::nullopt);
  json.member("timed_layers", group.timed_layers);
  json.end_object();
}

void write_cause_list(JsonWriter& json, const std::vector<engine::Cause>& causes) {
  json.line(2);
  json.key("causes");
  json.begin_array();
  for (const engine::Cause& cause : causes) {
    json.line(4);
    json.begin_object();
    json.member("kind", cause.kind);
    json.member("place", cause.place);
    json.list("layers", cause.layers);
    json.member("what", cause.what);
    json.member("change", cause.change);
    json.member("measured_ms", cause.measured_ms);
    json.list("partners", cause.partners);
    json.member("group_ms", cause.group_ms);
    json.member("ideal_ms", cause.ideal_ms);
    json.end_object();
  }
  json.end_array();
}

void write_engine_totals(JsonWriter& json, const EngineReport& report) {
  const engine::EngineSummary& summary = report.summary;
  json.line(2);
  json.key("totals");
  json.begin_object();
  write_group(json, "kernels", summary.kernels, summary.has_times);
  write_group(json, "reformats", summary.reformats, summary.has_times);
  write_group(json, "quantizers", summary.quantizers, summary.has_times);
  json.line(4);
  json.member("layers_of_unknown_weights", summary.layers_of_unknown_weights);
  json.line(4);
  json.member("measured_ms", summary.has_times ? std::optional(summary.measured_ms) : std::nullopt);
  json.line(4);
  json.member("runs", summary.runs > 0 ? std::optional(summary.runs) : std::nullopt);
  if (report.costs) {
    json.line(4);
    json.member("device", report.costs->device);
    json.member("flops", report.map ? std::optional(report.costs->flops) : std::nullopt);
    json.member("other_flops",
                report.map ? std::optional(report.costs->other_flops) : std::nullopt);
    json.member("least_ms", report.costs->least_ms);
    json.member("unknown_layers", report.costs->unknown_layers);
    json.member("estimated_ms", report.costs->estimated_ms);
    json.member("unestimated_layers", report.costs->unestimated_layers);
  }
  json.closing_line(2);
  json.end_object();
}

}  // namespace

void write_engine_json(fmt::memory_buffer& out, const EngineReport& report) {
  JsonWriter json(out);
  json.begin_object();
  const auto member = [&](std::string_view name, std::string_view text) {
    json.line(2);
    json.member(name, text);
  };
  member("schema", "symprof.engine/1");
  member("path", report.engine.path);
  member("form", report.engine.form);
  member("tensorrt", report.engine.version);
  json.line(2);
  json.key("layers");
  json.begin_array();
  for (std::size_t i = 0; i < report.engine.layers.size(); ++i) {
    json.line(4);
    write_layer(json, report, i);
  }
  json.closing_line(2);
  json.end_array();
  write_nodes(json, report);
  write_engine_totals(json, report);
  write_cause_list(json, report.causes);
  json.line(2);
  json.list("warnings", report.summary.warnings);
  json.end_document();
}

}  // namespace symprof::report
