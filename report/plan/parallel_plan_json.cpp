#include <cmath>

#include "report/plan/parallel_plan.h"
#include "report/profile/step_options.h"
#include "report/write/json_writer.h"

namespace symprof::report {
namespace {

std::string_view data_name(plan::DataMode mode) {
  if (mode == plan::DataMode::copies) return "ddp";
  return mode == plan::DataMode::shards ? "fsdp" : "hsdp";
}

void write_layout(JsonWriter& json, const plan::ParallelLayout& layout) {
  json.member("layout", text_of(layout));
  json.member("mode", data_name(layout.mode));
  json.member("data", layout.data);
  json.member("shard", layout.shard);
  json.member("tensor", layout.tensor);
  json.member("sequence", layout.sequence);
  json.member("expert", layout.expert);
  json.member("by_node", layout.by_node);
  json.member("pipeline", layout.pipeline);
  json.member("pipeline_schedule", plan::row_of(layout.schedule).name);
  json.member("stages_per_rank", layout.stages_per_rank);
  json.member("microbatches", layout.microbatches);
  json.member("checkpointed_blocks", layout.checkpointed);
}

void write_result(JsonWriter& json, const plan::LayoutResult& result) {
  write_layout(json, result.layout);
  json.member("step_time_us", result.step_us);
  json.member("compute_time_us", result.compute_us);
  json.member("communication_time_us", result.communication_us);
  json.member("exposed_time_us", result.exposed_us);
  json.member("bubble", result.bubble);
  const auto bytes = [&](std::string_view name, double value) {
    json.member(name, static_cast<std::int64_t>(std::llround(value)));
  };
  bytes("comm_bytes", result.comm_bytes());
  bytes("estimated_peak_bytes", result.memory.peak_bytes);
  bytes("parameter_bytes", result.memory.parameters);
  bytes("gradient_bytes", result.memory.gradients);
  bytes("state_bytes", result.memory.optimizer);
  bytes("buffer_bytes", result.memory.buffers);
  bytes("activation_bytes", result.memory.activations);
  bytes("temporary_bytes", result.memory.temporaries);
  json.member("fits", result.fits);
}

void write_collectives(JsonWriter& json, const std::vector<plan::CollectiveSum>& sums) {
  json.key("collectives");
  json.begin_array();
  for (const plan::CollectiveSum& sum : sums) {
    json.begin_object();
    json.member("dimension", symprof::name_of(sum.dimension));
    json.member("kind", name(sum.kind));
    json.member("count", sum.count);
    json.member("bytes", static_cast<std::int64_t>(std::llround(sum.bytes)));
    json.end_object();
  }
  json.end_array();
}

void write_splits(JsonWriter& json, const ParallelAnswer& answer) {
  json.key("split_linears");
  json.begin_array();
  for (const plan::SplitLinear& linear : answer.split.linears) {
    json.line(4), json.begin_object();
    json.member("module", linear.module);
    json.member("by",
                std::string_view(linear.style == plan::NodeSplit::column ? "columns" : "rows"));
    json.end_object();
  }
  json.closing_line(2), json.end_array();
}

void write_placements(JsonWriter& json, const ParallelAnswer& answer) {
  json.key("placements");
  json.begin_array();
  for (const plan::FoundPlacements& found : answer.placements) {
    json.line(4), json.begin_object();
    json.member("tensor", found.share.tensor);
    json.member("sequence", found.share.sequence);
    json.member("block_us", found.block.us);
    json.key("rule_us");
    json.value(found.block.rule_us);
    json.member("beats_rule", found.share.by_node);
    json.key("placed");
    json.begin_object();
    for (const plan::NodePlacement& node : found.block.nodes)
      json.member(answer.node_names[static_cast<std::size_t>(node.node)],
                  plan::text_of(node.output));
    json.end_object();
    json.end_object();
  }
  json.closing_line(2), json.end_array();
}

}  // namespace

void write_parallel_json(fmt::memory_buffer& out, const ParallelAnswer& answer,
                         SettingSpeller spell) {
  JsonWriter json(out, spell);
  json.begin_object();
  json.line(2), json.member("schema", "symprof.parallel_plan/1");
  json.line(2), json.member("model", answer.model);
  json.line(2), json.member("device", answer.device.name);
  json.line(2), write_settings(json, answer.settings);
  json.line(2), json.member("nodes", answer.problem.mesh.nodes);
  json.line(2), json.member("devices_per_node", answer.problem.mesh.devices_per_node);
  json.line(2), json.member("global_batch", answer.problem.global_batch);
  json.line(2), json.member("available_bytes", answer.problem.available_bytes);
  json.line(2), json.member("context_bytes", answer.context_bytes);
  json.line(2), json.member("unknown_calls", answer.unknown_calls);
  json.line(2), json.member("skips_blocks", answer.skips_blocks);
  json.line(2), json.member("evaluated", static_cast<std::int64_t>(answer.plan.evaluated));
  json.line(2), json.list("blocks", answer.blocks);
  json.line(2), write_splits(json, answer);
  json.line(2), write_placements(json, answer);
  json.line(2), json.key("plan");
  if (answer.plan.best) {
    json.begin_object();
    write_result(json, *answer.plan.best);
    write_collectives(json, answer.plan.best->collectives);
    json.end_object();
  } else {
    json.null();
  }
  json.line(2), json.key("alternatives");
  json.begin_array();
  for (const plan::LayoutAlternative& line : answer.plan.alternatives) {
    json.line(4), json.begin_object();
    write_result(json, line.result);
    json.member("why", why_text(line));
    json.end_object();
  }
  json.closing_line(2), json.end_array();
  json.end_document();
}

}  // namespace symprof::report
