#include "report/json.h"

#include "base/setting.h"
#include "report/json_writer.h"
#include "report/memory_json.h"
#include "report/names.h"
#include "report/rows.h"
#include "report/step_options.h"

namespace symprof::report {
namespace {

using Maybe = std::optional<std::int64_t>;

void write_model(JsonWriter& json, const Recording& recording) {
  json.key("model");
  json.begin_object();
  json.member("path", recording.path);
  json.member("format", recording.format);
  json.member("producer", recording.producer);
  json.end_object();
}

void write_coverage(JsonWriter& json, const Coverage& coverage) {
  json.key("coverage");
  json.begin_object();
  json.member("calls", coverage.calls);
  json.member("exact", coverage.exact);
  json.member("modelled", coverage.modelled);
  json.member("free", coverage.free);
  json.member("unmodelled", coverage.unmodelled);
  json.key("unmodelled_ops");
  json.begin_array();
  for (const std::string& op : coverage.unmodelled_ops) json.value(op);
  json.end_array();
  json.end_object();
}

/// A multiply-add is two FLOPs of the products and one MAC.
void write_flops(JsonWriter& json, const Totals& totals) {
  json.line(4);
  json.member("fwd_flops", totals.fwd_flops);
  json.member("bwd_flops", totals.bwd_flops);
  json.member("fwd_macs", totals.fwd_flops / 2);
  json.member("bwd_macs", totals.bwd_flops / 2);
  json.line(4);
  json.member("fwd_flops_all", totals.fwd_flops_all);
  json.member("bwd_flops_all", totals.bwd_flops_all);
  json.member("optimizer_flops", totals.optimizer_flops);
  json.line(4);
  json.member("recompute_flops", totals.recompute_flops);
  json.member("recompute_flops_all", totals.recompute_flops_all);
  json.member("model_flops", totals.model_flops);
  json.member("hardware_flops", totals.hardware_flops);
}

void write_totals(JsonWriter& json, const Profile& profile) {
  const Totals& totals = profile.totals;
  json.key("totals");
  json.begin_object();
  write_flops(json, totals);
  json.line(4);
  json.member("param_bytes", totals.param_bytes);
  json.member("param_count", totals.param_count);
  json.member("buffer_bytes", totals.buffer_bytes);
  json.member("input_bytes", totals.input_bytes);
  json.member("grad_bytes", totals.grad_bytes);
  json.member("optimizer_bytes", totals.optimizer_bytes);
  json.line(4);
  json.member("saved_bytes", totals.saved_bytes);
  json.member("saved_bytes_with_inputs", totals.saved_bytes_with_inputs);
  json.member("offloaded_bytes", totals.offloaded_bytes);
  json.member("transfer_bytes", totals.transfer_bytes);
  json.member("kv_cache_bytes", totals.kv_cache_bytes);
  json.member("kv_cache_bytes_after", totals.kv_cache_bytes_after);
  json.member("kv_cache_bytes_per_token", totals.kv_cache_bytes_per_token);
  json.line(4);
  json.member("peak_allocated_bytes", totals.peak_allocated_bytes);
  json.member("peak_reserved_bytes", totals.peak_reserved_bytes);
  json.member("peak_tensor_bytes", totals.tensor_peak.bytes);
  write_peak_at(json, profile.memory, profile.recording);
  json.line(4);
  json.member("fwd_time_us", totals.fwd_time_us);
  json.member("bwd_time_us", totals.bwd_time_us);
  json.member("optimizer_time_us", totals.optimizer_time_us);
  json.member("step_time_us", totals.step_time_us);
  json.member("comm_bytes", totals.comm_bytes);
  json.closing_line(2);
  json.end_object();
}

void write_tensors(JsonWriter& json, std::string_view key, const Recording& recording,
                   const std::vector<TensorRecord>& tensors) {
  json.key(key);
  json.begin_array();
  for (const TensorRecord& tensor : tensors) {
    if (tensor.spec == none) {
      json.null();
      continue;
    }
    const TensorSpec& spec = recording.specs[tensor.spec];
    json.begin_object();
    json.member("dtype", symprof::name(spec.dtype));
    json.key("shape");
    json.begin_array();
    for (const std::int64_t size : spec.sizes) json.value(size);
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

void write_calls(JsonWriter& json, const Recording& recording, const NodeProfile& node) {
  json.key("calls");
  json.begin_array();
  for (const CallProfile& call : node.calls) {
    const CallRecord& record = recording.calls[call.call];
    const Cost& cost = call.cost;
    const bool known = cost.confidence != Confidence::unmodelled;
    json.begin_object();
    json.member("call", std::int64_t{call.call});
    json.member("op", recording.ops[record.op]);
    json.member("phase", name(record.phase));
    json.member("flops", known ? Maybe(cost.product_flops + cost.other_flops) : Maybe());
    json.member("bytes_read", known ? Maybe(cost.bytes_read) : Maybe());
    json.member("bytes_written", known ? Maybe(cost.bytes_written) : Maybe());
    if (cost.transfer_bytes > 0) json.member("transfer_bytes", cost.transfer_bytes);
    json.member("confidence", name(cost.confidence));
    json.end_object();
  }
  json.end_array();
}

/// A sum that lacks the call of an operator without a rule is not known.
void write_figures(JsonWriter& json, const NodeProfile& node, const Recording& recording) {
  const RowFigures& figures = node.figures;
  const UnmodelledCalls missing = unmodelled_calls(node, recording);
  const auto forward = [&](std::int64_t flops) { return missing.forward ? Maybe() : Maybe(flops); };
  const auto backward = [&](std::int64_t flops) {
    return missing.backward ? Maybe() : Maybe(flops);
  };
  json.member("accumulate_bytes", node.accumulate_bytes);
  json.member("incremental_bytes", figures.incremental_bytes);
  json.member("output_bytes", figures.output_bytes);
  json.member("temp_bytes", figures.temp_bytes);
  json.member("param_bytes", figures.param_bytes);
  json.member("backward_bytes", figures.backward_bytes);
  json.member("fwd_flops", forward(figures.fwd_product_flops));
  json.member("bwd_flops", backward(figures.bwd_product_flops));
  json.member("fwd_flops_all", forward(figures.fwd_product_flops + figures.fwd_other_flops));
  json.member("bwd_flops_all", backward(figures.bwd_product_flops + figures.bwd_other_flops));
  json.member("recompute_flops", backward(figures.recompute_product_flops));
  json.member("recompute_flops_all",
              backward(figures.recompute_product_flops + figures.recompute_other_flops));
  json.member("optimizer_flops", missing.optimizer ? Maybe() : Maybe(figures.optimizer_flops));
  json.null_member("fwd_time_us");
  json.null_member("bwd_time_us");
  json.null_member("comm_bytes");
  json.member("confidence", name(figures.confidence));
}

void write_node(JsonWriter& json, const NodeProfile& node, const Recording& recording) {
  const NodeRecord& record = recording.nodes[node.node];
  json.begin_object();
  json.member("id", std::int64_t{node.node});
  json.member("name", record.name);
  json.member("module", record.module);
  json.member("op", record.op);
  if (record.upper_bound) json.member("upper_bound", true);
  write_tensors(json, "inputs", recording, record.inputs);
  write_tensors(json, "outputs", recording, record.outputs);
  write_figures(json, node, recording);
  write_calls(json, recording, node);
  json.end_object();
}

void write_nodes(JsonWriter& json, const Profile& profile) {
  json.key("nodes");
  json.begin_array();
  for (const NodeProfile& node : profile.nodes) {
    json.line(4);
    write_node(json, node, profile.recording);
  }
  json.closing_line(2);
  json.end_array();
}

void write_timeline(JsonWriter& json, const Profile& profile) {
  json.key("timeline");
  json.begin_array();
  for (const TimelinePoint& point : profile.memory.timeline) {
    json.begin_object();
    json.member("call", std::int64_t{point.call});
    json.member("allocated", point.held.total());
    json.member("highest", point.highest_bytes);
    write_held(json, "held", point.held);
    json.end_object();
  }
  json.end_array();
}

void write_warnings(JsonWriter& json, const Profile& profile) {
  json.key("warnings");
  json.begin_array();
  for (const std::string& warning : profile.warnings) json.spelled_value(warning);
  json.end_array();
}

}  // namespace

void write_json(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                const RunOptions& run, SettingSpeller spell) {
  JsonWriter json(out, spell);
  json.begin_object();
  json.line(2);
  json.member("schema", "symprof.profile/1");
  json.line(2);
  write_model(json, profile.recording);
  json.line(2);
  write_step_options(json, options, run);
  json.line(2);
  write_coverage(json, profile.coverage);
  json.line(2);
  write_totals(json, profile);
  json.line(2);
  write_memory(json, profile.memory, profile.recording, options.device);
  json.line(2);
  write_nodes(json, profile);
  json.line(2);
  write_timeline(json, profile);
  json.line(2);
  json.null_member("measured");
  json.line(2);
  write_warnings(json, profile);
  json.end_document();
}

}  // namespace symprof::report
