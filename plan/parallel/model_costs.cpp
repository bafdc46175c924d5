#include "plan/parallel/model_costs.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "plan/parallel/scaled_kernel.h"
#include "profile/step_time.h"
#include "profile/time/time_model.h"

namespace symprof::plan {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

/// The index of the block in `blocks` that contains the module, if any.
std::optional<std::size_t> block_of(const std::string& module,
                                    const std::vector<std::string>& blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (is_in_module(module, blocks[i])) return i;
  return std::nullopt;
}

}  // namespace

ModelCosts::ModelCosts(const Profile& profile, const DeviceSpec& device, profile::TimeModel& model,
                       const std::vector<std::string>& blocks, const Graph& graph,
                       const trace::ValueSpecs& specs)
    : profile_(profile),
      device_(device),
      model_(model),
      blocks_(blocks),
      graph_(graph),
      specs_(specs),
      kernels_(profile::kernels_of(profile.recording, device)) {
  const Totals& totals = profile.totals;
  samples_ = static_cast<double>(profile.time->samples.value_or(1));
  optimizer_us_ = profile.time->optimizer_us;
  parameter_bytes_ = static_cast<double>(totals.param_bytes);
  gradient_bytes_ = static_cast<double>(totals.grad_bytes);
  state_bytes_ = static_cast<double>(totals.optimizer_bytes);
  make_units(blocks);
  find_experts();
  rule_ = with_parameters(find_tensor_split(profile.recording, blocks));
  find_boundaries();
  find_types();
  find_memory();
}

/// Outside the blocks, nodes before the end of the first block are unit 0, all others unit blocks +
/// 1.
void ModelCosts::make_units(const std::vector<std::string>& blocks) {
  const Recording& recording = profile_.recording;
  units_.resize(blocks.size() + 2);
  for (std::size_t i = 0; i < blocks.size(); ++i) units_[i + 1].name = blocks[i];
  unit_of_node_.resize(recording.nodes.size());
  bool is_before = true;
  for (std::size_t i = 0; i < recording.nodes.size(); ++i) {
    const auto block = block_of(recording.nodes[i].module, blocks);
    is_before = is_before && !block;
    unit_of_node_[i] = block ? *block + 1 : is_before ? 0 : units_.size() - 1;
  }
  for (std::size_t i = 0; i < recording.calls.size(); ++i)
    if (recording.calls[i].phase != Phase::optimizer)
      units_[unit_of_node_[at(recording.calls[i].node)]].calls.push_back(static_cast<CallId>(i));
}

/// A parameter belongs to the first unit that uses it, and is split as its layer is.
ModelSplit ModelCosts::with_parameters(TensorSplit tensors) const {
  const Recording& recording = profile_.recording;
  ModelSplit split{.tensors = std::move(tensors)};
  split.whole_parameter_bytes.resize(units_.size());
  split.split_parameter_bytes.resize(units_.size());
  split.expert_parameter_bytes.resize(units_.size());
  std::set<StorageId> seen;
  for (std::size_t i = 0; i < recording.nodes.size(); ++i) {
    if (recording.nodes[i].kind != NodeKind::operation) continue;
    const NodeSplit own = split.tensors.nodes[i];
    const bool is_split = own == NodeSplit::column || own == NodeSplit::row;
    const std::int32_t graph_node = recording.nodes[i].graph_node;
    const bool is_expert = graph_node != none && expert_readers_.contains(at(graph_node));
    for (const StorageId parameter : recording.nodes[i].parameters) {
      if (!seen.insert(parameter).second) continue;
      const auto bytes = static_cast<double>(recording.storages[at(parameter)].bytes);
      (is_split ? split.split_parameter_bytes : split.whole_parameter_bytes)[unit_of_node_[i]] +=
          bytes;
      if (is_expert) split.expert_parameter_bytes[unit_of_node_[i]] += bytes;
    }
  }
  return split;
}

const ModelSplit& ModelCosts::split(const UnitShare& share) const {
  return share.by_node ? by_node_.at({share.tensor, share.sequence}) : rule_;
}

double ModelCosts::held_bytes(std::size_t unit, const UnitShare& share) const {
  const ModelSplit& own = split(share);
  const double spread = share.expert > 1 ? own.expert_parameter_bytes[unit] : 0;
  return own.whole_parameter_bytes[unit] - spread + own.split_parameter_bytes[unit] / share.tensor;
}

/// Boundary bytes: a unit's outputs that later units read.
void ModelCosts::find_boundaries() {
  const Recording& recording = profile_.recording;
  boundary_bytes_.assign(units_.size(), 0);
  std::set<StorageId> counted;
  for (std::size_t i = 0; i < recording.nodes.size(); ++i)
    for (const TensorRecord& input : recording.nodes[i].inputs) {
      if (input.storage == none) continue;
      const StorageRecord& storage = recording.storages[at(input.storage)];
      if (storage.kind != StorageKind::activation || storage.node == none || !storage.on_device)
        continue;
      const std::size_t from = unit_of_node_[at(storage.node)];
      skips_blocks_ |= from + 1 < unit_of_node_[i];
      if (from < unit_of_node_[i] && counted.insert(input.storage).second)
        boundary_bytes_[from] += static_cast<double>(storage.bytes);
    }
}

/// Units are of one type if their calls are the same operators on tensors of the same sizes.
void ModelCosts::find_types() {
  const Recording& recording = profile_.recording;
  std::map<std::pair<DType, std::vector<std::int64_t>>, std::int32_t> sizes;
  std::vector<std::int32_t> size_of_spec;
  size_of_spec.reserve(recording.specs.size());
  for (const TensorSpec& spec : recording.specs)
    size_of_spec.push_back(
        sizes.emplace(std::pair(spec.dtype, spec.sizes), static_cast<std::int32_t>(sizes.size()))
            .first->second);
  std::map<std::vector<std::int32_t>, std::size_t> types;
  for (Unit& unit : units_) {
    // The units outside blocks never share a type with blocks.
    std::vector<std::int32_t> signature = {unit.name.empty() ? 1 : 0};
    for (const CallId id : unit.calls) {
      const CallRecord& call = recording.calls[at(id)];
      signature.push_back(call.op);
      signature.push_back(static_cast<std::int32_t>(call.phase));
      signature.push_back(static_cast<std::int32_t>(rule_.tensors.nodes[at(call.node)]));
      for (const TensorRecord& input : call.inputs)
        signature.push_back(input.spec == none ? none : size_of_spec[at(input.spec)]);
    }
    unit.type = types.emplace(std::move(signature), types.size()).first->second;
  }
  type_count_ = types.size();
}

void ModelCosts::find_memory() {
  saved_bytes_.reserve(profile_.nodes.size());
  double saved = 0;
  for (const NodeProfile& node : profile_.nodes) {
    saved_bytes_.push_back(static_cast<double>(node.figures.incremental_bytes));
    saved += saved_bytes_.back();
  }
  for (const TimelinePoint& point : profile_.memory.timeline) {
    double others = static_cast<double>(point.highest_bytes);
    for (const MemoryCategory category :
         {MemoryCategory::parameters, MemoryCategory::gradients, MemoryCategory::optimizer})
      others -= static_cast<double>(point.held[category]);
    const bool is_update =
        point.call != none && profile_.recording.calls[at(point.call)].phase == Phase::optimizer;
    double& most = is_update ? optimizer_temporary_bytes_ : temporary_bytes_;
    most = std::max(most, is_update ? others : others - saved);
  }
  const StepMemory& memory = profile_.memory;
  if (memory.peak_allocated_bytes > 0)
    fragmentation_ = static_cast<double>(memory.peak_reserved_bytes) /
                     static_cast<double>(memory.peak_allocated_bytes);
}

const UnitCosts& ModelCosts::costs(std::size_t unit, const UnitShare& share) {
  const std::tuple key(units_[unit].type, share.samples, share.tensor, share.sequence, share.expert,
                       share.by_node);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  return known_.emplace(key, compute(unit, share)).first->second;
}

const TensorSpec* ModelCosts::weight_of(NodeId node) const {
  const Recording& recording = profile_.recording;
  const NodeRecord& record = recording.nodes[at(node)];
  if (!record.op.ends_with("::linear")) return nullptr;
  for (const TensorRecord& input : record.inputs)
    if (input.spec != none && input.storage != none &&
        recording.storages[at(input.storage)].kind == StorageKind::parameter)
      if (const TensorSpec& spec = recording.specs[at(input.spec)]; spec.sizes.size() == 2)
        return &spec;
  return nullptr;
}

double ModelCosts::share_of(NodeId node, const UnitShare& share) const {
  const bool is_in_block = !units_[unit_of_node_[at(node)]].name.empty();
  const bool is_split = split(share).tensors.nodes[at(node)] != NodeSplit::whole;
  return is_split || (share.sequence && is_in_block) ? 1.0 / share.tensor : 1.0;
}

double ModelCosts::call_us(CallId id, double samples, double share, NodeSplit split, int expert) {
  const CallRecord& call = profile_.recording.calls[at(id)];
  const profile::LaunchEstimate& launches = kernels_[at(id)];
  if (!launches) return 0;
  const bool keeps_weight = share < 1 && split == NodeSplit::inside;
  const KernelScale scale{.samples = samples / samples_,
                          .share = share,
                          .weight = keeps_weight ? nullptr : weight_of(call.node),
                          .splits_outputs = split != NodeSplit::row,
                          .experts = expert_weights(call.node),
                          .expert_ranks = expert};
  double us = 0;
  for (const profile::Kernel& kernel : launches->kernels)
    if (const auto one = model_.estimate(scaled(kernel, scale)))
      us += one->us + kernel.launches * profile::kernel_gap_us_of(device_);
  return us;
}

/// Times are the larger of the device's and the host's.
UnitCosts ModelCosts::compute(std::size_t unit, const UnitShare& share) {
  UnitCosts costs;
  const Recording& recording = profile_.recording;
  double host_forward = 0, host_backward = 0;
  for (const CallId id : units_[unit].calls) {
    const bool is_backward = is_in_backward(recording.calls[at(id)].phase);
    const NodeId node = recording.calls[at(id)].node;
    (is_backward ? costs.backward_us : costs.forward_us) +=
        call_us(id, share.samples, share_of(node, share), split(share).tensors.nodes[at(node)],
                share.expert);
    int launches = 0;
    if (kernels_[at(id)])
      for (const profile::Kernel& kernel : kernels_[at(id)]->kernels) launches += kernel.launches;
    (is_backward ? host_backward : host_forward) += profile::host_us_of(device_, launches);
  }
  costs.forward_us = std::max(costs.forward_us, host_forward);
  costs.backward_us = std::max(costs.backward_us, host_backward);
  const double factor = share.samples / samples_;
  for (std::size_t i = 0; i < saved_bytes_.size(); ++i)
    if (unit_of_node_[i] == unit)
      costs.saved_bytes += saved_bytes_[i] * factor * share_of(static_cast<NodeId>(i), share);
  const bool is_in_blocks = !units_[unit].name.empty();
  costs.boundary_bytes =
      boundary_bytes_[unit] * factor / (share.sequence && is_in_blocks ? share.tensor : 1);
  if (share.tensor > 1) add_collectives(unit, share, costs);
  if (share.expert > 1) add_exchanges(unit, share, costs);
  return costs;
}

/// DTensor's collectives: the reduction of each row layer's output; in backward, the reduction of
/// each column layer's input gradient. With sequence parallelism an input of several column layers
/// is gathered once, for their common module; with searched placements its gradients are reduced
/// once, too.
void ModelCosts::add_collectives(std::size_t unit, const UnitShare& share, UnitCosts& costs) const {
  const Recording& recording = profile_.recording;
  const double factor = share.samples / samples_;
  const auto bytes_of = [&](const TensorRecord& tensor) {
    return static_cast<double>(recording.specs[at(tensor.spec)].bytes()) * factor;
  };
  std::set<StorageId> gathered;
  for (const SplitLinear& linear : split(share).tensors.linears) {
    if (unit_of_node_[at(linear.node)] != unit) continue;
    const NodeRecord& node = recording.nodes[at(linear.node)];
    if (linear.style == NodeSplit::row) {
      (share.sequence ? costs.forward_scatters : costs.forward_reduces)
          .push_back(bytes_of(node.outputs[0]));
    } else if (!share.sequence && !share.by_node) {
      costs.backward_reduces.push_back(bytes_of(node.inputs[0]));
    } else if (gathered.insert(node.inputs[0].storage).second) {
      (share.sequence ? costs.forward_gathers : costs.backward_reduces)
          .push_back(bytes_of(node.inputs[0]));
    }
  }
}

}  // namespace symprof::plan
