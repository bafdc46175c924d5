#include "tests/support/small_profile.h"
#include "trace/exported/reader.h"

#include <algorithm>

namespace symprof::test {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * 1024, gib = 1024 * mib;

class Builder {
 public:
  NodeProfile& node(std::string name, std::string op, std::string module, NodeKind kind) {
    const NodeId id = static_cast<NodeId>(profile.nodes.size());
    profile.recording.nodes.push_back({std::move(name), std::move(op), std::move(module)});
    profile.recording.nodes.back().kind = kind;
    profile.nodes.push_back({id});
    return profile.nodes.back();
  }

  NodeProfile& node(std::string name, std::string op, std::string module) {
    return node(std::move(name), std::move(op), std::move(module), NodeKind::operation);
  }

  TensorRecord tensor(DType dtype, std::vector<std::int64_t> sizes) {
    Recording& recording = profile.recording;
    recording.specs.push_back({dtype, sizes, contiguous_strides(sizes)});
    recording.storages.push_back({recording.specs.back().bytes()});
    return {static_cast<std::int32_t>(recording.specs.size()) - 1,
            static_cast<StorageId>(recording.storages.size()) - 1};
  }

  void call(NodeProfile& node, const std::string& op, Phase phase, Cost cost) {
    std::vector<std::string>& ops = profile.recording.ops;
    auto found = std::find(ops.begin(), ops.end(), op);
    if (found == ops.end()) found = ops.insert(ops.end(), op);
    CallRecord record;
    record.op = static_cast<std::int32_t>(found - ops.begin());
    record.phase = phase;
    record.node = node.node;
    const CallId id = static_cast<CallId>(profile.recording.calls.size());
    profile.recording.calls.push_back(record);
    TimelinePoint point{.call = id};
    point.held[MemoryCategory::activations] = 2 * mib * (id + 1);
    profile.memory.timeline.push_back(point);
    node.calls.push_back({id, cost});
    ++node.figures.calls;
    count(op, cost.confidence);
  }

  Profile profile;

 private:
  void count(const std::string& op, Confidence confidence) {
    Coverage& coverage = profile.coverage;
    ++coverage.calls;
    if (confidence == Confidence::exact) ++coverage.exact;
    if (confidence == Confidence::modelled) ++coverage.modelled;
    if (confidence == Confidence::free) ++coverage.free;
    if (confidence != Confidence::unmodelled) return;
    ++coverage.unmodelled;
    coverage.unmodelled_ops.push_back(op);
  }
};

void add_modules(Profile& profile) {
  profile.recording.modules = {{"", "Net"},
                               {"stem", "torch.nn.modules.conv.Conv2d"},
                               {"encoder", "net.Encoder"},
                               {"encoder.layers", "torch.nn.modules.container.ModuleList"},
                               {"encoder.layers.0", "net.Block"},
                               {"encoder.layers.0.mlp", "torch.nn.modules.linear.Linear"},
                               {"encoder.layers.1", "net.Block"},
                               {"encoder.layers.1.mlp", "torch.nn.modules.linear.Linear"}};
}

void add_input(Builder& build) {
  NodeProfile& x = build.node("x", "input", "", NodeKind::input);
  x.figures.incremental_bytes = x.figures.output_bytes = 4816896;
  x.figures.accumulate_bytes = 4816896;
  build.profile.recording.nodes.back().outputs = {build.tensor(DType::float32, {8, 3, 224, 224})};
}

void add_convolution(Builder& build) {
  NodeProfile& conv = build.node("conv2d", "aten::conv2d", "stem");
  conv.figures = {.temp_bytes = 4816896,
                  .param_bytes = 2362368,
                  .fwd_product_flops = 2 * 924844032,
                  .bwd_product_flops = 2 * 924844032,
                  .bwd_other_flops = 1204224,
                  .confidence = Confidence::exact};
  conv.figures.accumulate_bytes = 4816896;
  NodeRecord& record = build.profile.recording.nodes.back();
  record.module_type = "torch.nn.modules.conv.Conv2d";
  record.scopes = {0, 1};
  record.inputs = {build.tensor(DType::float32, {8, 3, 224, 224}), {}};
  record.outputs = {build.tensor(DType::float32, {8, 768, 14, 14})};
  build.call(conv, "aten::convolution", Phase::forward,
             {2 * 924844032, 0, 4816896 + 2362368, 4816896, Confidence::exact});
  build.call(conv, "aten::convolution_backward", Phase::backward,
             {2 * 924844032, 1204224, 4816896, 2362368, Confidence::exact});
}

void add_linear(Builder& build, int layer) {
  const std::string module = "encoder.layers." + std::to_string(layer) + ".mlp";
  NodeProfile& linear =
      build.node(layer ? "linear_" + std::to_string(layer) : "linear", "aten::linear", module);
  linear.figures = {.incremental_bytes = 19365888,
                    .output_bytes = 4841472,
                    .temp_bytes = 512,
                    .param_bytes = 9449472,
                    .backward_bytes = 4841472,
                    .fwd_product_flops = 7437000000,
                    .fwd_other_flops = 4841472,
                    .bwd_product_flops = 14874000000,
                    .confidence = Confidence::modelled};
  linear.figures.accumulate_bytes = 4816896 + (layer + 1) * 19365888;
  NodeRecord& record = build.profile.recording.nodes.back();
  record.module_type = "torch.nn.modules.linear.Linear";
  record.scopes = {0, 2, 3, 4 + 2 * layer, 5 + 2 * layer};
  build.call(linear, "aten::view", Phase::forward, {0, 0, 0, 0, Confidence::free});
  build.call(linear, "aten::addmm", Phase::forward,
             {7437000000, 4841472, 14 * mib, 18 * mib, Confidence::modelled});
  build.call(linear, "aten::mm", Phase::backward,
             {14874000000, 0, 28 * mib, 18 * mib, Confidence::exact});
}

void add_unmodelled(Builder& build) {
  NodeProfile& odd = build.node("odd", "acme::swizzle", "encoder");
  odd.figures.temp_bytes = 300 * kib;
  odd.figures.bwd_other_flops = 1500;
  odd.figures.confidence = Confidence::unmodelled;
  odd.figures.accumulate_bytes = 4816896 + 2 * 19365888;
  build.profile.recording.nodes.back().scopes = {0, 2};
  build.call(odd, "acme::swizzle", Phase::forward, {});
  build.call(odd, "aten::mul", Phase::backward, {0, 1500, 6000, 6000, Confidence::exact});
  build.call(odd, "acme::swizzle_backward", Phase::backward, {});
}

void add_optimizer(Builder& build) {
  constexpr std::int64_t elements = (2362368 + 2 * 9449472) / 4;
  NodeProfile& optimizer = build.node("optimizer", "optimizer", "", NodeKind::optimizer);
  optimizer.figures.optimizer_flops = 14 * elements;
  optimizer.figures.confidence = Confidence::modelled;
  optimizer.figures.accumulate_bytes = 4816896 + 2 * 19365888;
  build.call(optimizer, "aten::_fused_adamw_", Phase::optimizer,
             {0, 14 * elements, 16 * elements, 12 * elements, Confidence::modelled});
}

void add_totals(Profile& profile) {
  Totals& totals = profile.totals;
  for (const NodeProfile& node : profile.nodes) {
    totals.fwd_flops += node.figures.fwd_product_flops;
    totals.bwd_flops += node.figures.bwd_product_flops;
    totals.fwd_flops_all += node.figures.fwd_product_flops + node.figures.fwd_other_flops;
    totals.bwd_flops_all += node.figures.bwd_product_flops + node.figures.bwd_other_flops;
    totals.saved_bytes_with_inputs += node.figures.incremental_bytes;
    totals.optimizer_flops += node.figures.optimizer_flops;
  }
  totals.hardware_flops = totals.model_flops = totals.fwd_flops + totals.bwd_flops;
  totals.param_bytes = totals.grad_bytes = 2362368 + 2 * 9449472;
  totals.param_count = totals.param_bytes / 4;
  totals.optimizer_bytes = 2 * totals.param_bytes;
  totals.buffer_bytes = 0;
  totals.input_bytes = 4816896;
  totals.saved_bytes = totals.saved_bytes_with_inputs - totals.input_bytes;
  totals.peak_allocated_bytes = 141 * mib + 512;
  totals.peak_reserved_bytes = 160 * mib;
  totals.tensor_peak.bytes = 141 * mib;
  totals.peak_phase = Phase::backward;
  totals.peak_node = 3;
}

void add_memory(Profile& profile) {
  const Totals& totals = profile.totals;
  StepMemory& memory = profile.memory;
  memory.at_peak[MemoryCategory::parameters] = totals.param_bytes;
  memory.at_peak[MemoryCategory::activations] = 109 * mib;
  memory.at_peak[MemoryCategory::workspace] = 32 * mib;
  const auto holds = [&](NodeId node, MemoryCategory category, std::int64_t bytes) {
    if (memory.peak_by_node.empty() || memory.peak_by_node.back().node != node)
      memory.peak_by_node.push_back({node, {}});
    memory.peak_by_node.back().held[category] = bytes;
  };
  holds(none, MemoryCategory::workspace, 32 * mib);
  holds(1, MemoryCategory::parameters, 2362368);
  for (const NodeId linear : {2, 3}) {
    holds(linear, MemoryCategory::parameters, 9449472);
    holds(linear, MemoryCategory::activations, linear == 2 ? 45 * mib : 64 * mib);
  }
  memory.incomplete_calls = 2;
  memory.peak_allocated_bytes = totals.peak_allocated_bytes;
  memory.peak_reserved_bytes = totals.peak_reserved_bytes;
  const auto& calls = profile.recording.calls;
  const auto is_peak = [](const CallRecord& call) {
    return call.phase == Phase::backward && call.node == 3;
  };
  memory.peak_call =
      static_cast<CallId>(std::find_if(calls.begin(), calls.end(), is_peak) - calls.begin());
}

}  // namespace

Profile small_profile() {
  Builder build;
  Recording& recording = build.profile.recording;
  recording.path = "net.pt2";
  recording.format = "exported";
  recording.traits = trace::exported_traits;
  recording.producer = "pytorch 2.13.0";
  add_modules(build.profile);
  add_input(build);
  add_convolution(build);
  add_linear(build, 0);
  add_linear(build, 1);
  add_unmodelled(build);
  NodeProfile& output = build.node("output", "output", "", NodeKind::output);
  output.figures.accumulate_bytes = 4816896 + 2 * 19365888;
  add_optimizer(build);
  add_totals(build.profile);
  add_memory(build.profile);
  build.profile.warnings = {"dropout \"p\" was removed by the exporter"};
  return std::move(build.profile);
}

StepOptions small_options() {
  StepOptions options;
  options.optimizer = Optimizer::adamw;
  options.autocast = DType::bfloat16;
  options.device.name = "h200";
  options.device.description = "NVIDIA H200 SXM 141 GB";
  options.device.memory_bytes = 140 * gib;
  return options;
}

}  // namespace symprof::test
