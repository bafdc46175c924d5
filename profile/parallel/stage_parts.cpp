#include "profile/parallel/stage_parts.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "profile/parallel/wrapped_groups.h"

namespace symprof::profile {
namespace {

/// The operator that begins a stage (trace/passes/pipeline_stages.h).
constexpr std::string_view receive_operator = "pipeline::receive";

/// The part of a stage that a call or block belongs to.
struct Place {
  std::int32_t stage = none;  // none: no microbatch.
  bool is_backward = false;
  bool operator==(const Place&) const = default;
};

class PartSearch {
 public:
  PartSearch(const Recording& recording, const PipelineOptions& options)
      : recording_(recording), options_(options), last_stage_(options.stages() - 1) {
    parts_.of_stage.resize(static_cast<std::size_t>(options.stages()));
  }

  StageParts run() {
    find_stages();
    find_outputs();
    find_messages();
    place_calls();
    place_blocks();
    return std::move(parts_);
  }

 private:
  const NodeRecord& node(NodeId id) const { return recording_.nodes[static_cast<std::size_t>(id)]; }
  const StorageRecord& storage(StorageId id) const {
    return recording_.storages[static_cast<std::size_t>(id)];
  }
  StagePart& part(std::int32_t stage) { return parts_.of_stage[static_cast<std::size_t>(stage)]; }

  /// Receive nodes begin each stage of the rank except the model's first. Calls after the graph
  /// belong to the last stage.
  void find_stages() {
    auto stage = static_cast<std::int32_t>(options_.rank.value_or(0));
    bool receives = stage > 0, was_receiving = false;
    for (const NodeRecord& one : recording_.nodes) {
      const bool is_receiving = one.op == receive_operator;
      if (is_receiving && !was_receiving && !std::exchange(receives, false))
        stage += static_cast<std::int32_t>(options_.ranks);
      was_receiving = is_receiving;
      const bool is_of_graph = one.kind == NodeKind::input || one.kind == NodeKind::operation;
      stages_.push_back(is_of_graph ? stage : static_cast<std::int32_t>(last_stage_));
    }
  }

  std::int32_t stage_of(NodeId id) const { return stages_[static_cast<std::size_t>(id)]; }

  std::int64_t bytes_of(const TensorRecord& tensor) const {
    return tensor.spec == none ? 0
                               : recording_.specs[static_cast<std::size_t>(tensor.spec)].bytes();
  }
  bool is_floating(const TensorRecord& tensor) const {
    return tensor.spec != none &&
           is_floating_point(recording_.specs[static_cast<std::size_t>(tensor.spec)].dtype);
  }

  /// Finds the pipeline module's outputs: tensors read by nodes outside it, or the graph's outputs.
  void find_outputs() {
    std::set<StorageId> made, added;
    for (const NodeRecord& one : recording_.nodes) {
      const bool is_inside_module =
          one.kind == NodeKind::operation && is_inside(one.module, options_.module);
      if (one.kind != NodeKind::operation || options_.module.empty()) continue;
      const auto stage = stage_of(static_cast<NodeId>(&one - recording_.nodes.data()));
      for (const TensorRecord& tensor : is_inside_module ? one.outputs : one.inputs) {
        if (is_inside_module)
          made.insert(tensor.storage);
        else if (stage == last_stage_ && made.contains(tensor.storage) &&
                 storage(tensor.storage).allocated_by != none &&
                 added.insert(tensor.storage).second)
          parts_.outputs.push_back(tensor);
      }
    }
  }

  void find_messages() {
    for (std::size_t i = 0; i < recording_.nodes.size(); ++i) {
      const NodeRecord& one = recording_.nodes[i];
      if (one.op == receive_operator)
        part(stages_[i])
            .received.push_back({.storage = one.outputs.at(0).storage,
                                 .bytes = bytes_of(one.outputs[0]),
                                 .node = static_cast<NodeId>(i),
                                 .has_gradient = is_floating(one.outputs[0])});
      if (one.kind != NodeKind::output) continue;
      for (const TensorRecord& tensor : one.inputs) add_output(tensor);
    }
  }

  void add_output(const TensorRecord& tensor) {
    if (tensor.storage == none) return;
    const NodeId maker = storage(tensor.storage).node;
    const std::int32_t stage = stage_of(maker);
    if (stage != last_stage_)
      part(stage).sent.push_back({.storage = tensor.storage,
                                  .bytes = bytes_of(tensor),
                                  .node = maker,
                                  .has_gradient = is_floating(tensor)});
    else if (options_.module.empty() && options_.has_stage(last_stage_))
      parts_.outputs.push_back(tensor);
  }

  /// True for the ones that start a stage's backward.
  bool is_start(const CallRecord& call) const {
    return call.phase == Phase::loss &&
           recording_.ops[static_cast<std::size_t>(call.op)] == "aten::ones_like" &&
           !call.inputs.empty() && !call.outputs.empty();
  }

  Place place_of(const CallRecord& call) const {
    if (call.phase == Phase::optimizer) return {};
    if (is_start(call)) return {stage_of(storage(call.inputs[0].storage).node), true};
    return {stage_of(call.node), is_in_backward(call.phase)};
  }

  void place_calls() {
    for (std::size_t i = 0; i < recording_.calls.size(); ++i) {
      const CallRecord& call = recording_.calls[i];
      const auto id = static_cast<CallId>(i);
      const Place place = place_of(call);
      places_.push_back(place);
      if (node(call.node).op == receive_operator) continue;  // The buffer already exists.
      if (place.stage == none) {
        parts_.update.push_back(id);
      } else if (StageMessage* sent = sent_root(call)) {
        sent->gradient = call.outputs[0].storage;
      } else {
        StagePart& own = part(place.stage);
        (place.is_backward ? own.backward : own.forward).push_back(id);
      }
    }
  }

  /// The message whose gradient is received from the next stage, in place of the ones made by
  /// `call`.
  StageMessage* sent_root(const CallRecord& call) {
    if (!is_start(call)) return nullptr;
    for (StagePart& one : parts_.of_stage)
      for (StageMessage& sent : one.sent)
        if (sent.storage == call.inputs[0].storage && sent.gradient == none) return &sent;
    return nullptr;
  }

  void place_blocks() {
    const std::size_t count = recording_.storages.size();
    parts_.is_of_microbatch.resize(count);
    parts_.has_own_end.resize(count);
    parts_.ends_in_stage.resize(count, none);
    std::vector<CallId> taken(count, none), given_back(count, none);
    for (const MemoryEvent& event : recording_.events) {
      if (event.call == none) continue;
      auto& calls = event.kind == EventKind::allocate ? taken : given_back;
      calls[static_cast<std::size_t>(event.storage)] = event.call;
    }
    std::set<StorageId> ends_elsewhere;  // Sent, received or kept storages.
    for (const StagePart& one : parts_.of_stage) {
      for (const StageMessage& message : one.sent)
        ends_elsewhere.insert({message.storage, message.gradient});
      for (const StageMessage& message : one.received) ends_elsewhere.insert(message.storage);
    }
    for (const TensorRecord& output : parts_.outputs) ends_elsewhere.insert(output.storage);
    for (const StorageId id : ends_elsewhere)
      if (id != none) parts_.is_of_microbatch[static_cast<std::size_t>(id)] = true;
    for (std::size_t i = 0; i < count; ++i)
      if (taken[i] != none && !ends_elsewhere.contains(static_cast<StorageId>(i)))
        place_block(static_cast<StorageId>(i), taken[i], given_back[i]);
  }

  void place_block(StorageId id, CallId taken, CallId given_back) {
    const StorageKind kind = storage(id).kind;
    const Place made = places_[static_cast<std::size_t>(taken)];
    const auto index = static_cast<std::size_t>(id);
    if (kind == StorageKind::gradient || kind == StorageKind::optimizer_state ||
        made.stage == none) {
      parts_.has_own_end[index] = true;
      return;
    }
    parts_.is_of_microbatch[index] = true;
    StagePart& own = part(made.stage);
    const bool is_loss = !made.is_backward && given_back == none;
    if (given_back == none && made.is_backward) {
      (own.received.empty() ? own.ends_with_backward : own.input_gradients).push_back(id);
      if (own.received.empty()) parts_.ends_in_stage[index] = made.stage;
    } else if (!is_loss) {
      parts_.ends_in_stage[index] = made.stage;
      const Place end = places_[static_cast<std::size_t>(given_back)];
      if (end.stage == made.stage)
        parts_.has_own_end[index] = true;
      else if (end.stage != none && !end.is_backward)
        own.ends_with_forward.push_back(id);
      else
        own.ends_with_backward.push_back(id);
    }
  }

  const Recording& recording_;
  const PipelineOptions& options_;
  std::int64_t last_stage_;
  std::vector<std::int32_t> stages_;  // By node.
  std::vector<Place> places_;         // By call.
  StageParts parts_;
};

}  // namespace

StageParts stage_parts(const Recording& recording, const PipelineOptions& options) {
  return PartSearch(recording, options).run();
}

}  // namespace symprof::profile
