#include "measure/nodes/on_nodes.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "measure/nodes/align.h"
#include "measure/nodes/loose.h"
#include "measure/nodes/work.h"

namespace symprof::measure {
namespace nodes {
namespace {

/// The model's nodes for comparison with a run: names, called operators and tensors.
struct ModelSteps {
  std::vector<Step> steps;
  std::vector<NodeId> nodes;  ///< By step.
  Step loss;
  NodeId loss_node = none, optimizer_node = none;
};

ModelSteps model_steps(const Recording& recording) {
  ModelSteps model;
  std::vector<std::vector<std::string>> families(recording.nodes.size());
  for (const CallRecord& call : recording.calls) {
    if (call.phase == Phase::optimizer) model.optimizer_node = call.node;
    if (call.phase == Phase::forward || call.phase == Phase::loss)
      families[static_cast<std::size_t>(call.node)].push_back(
          family_of(recording.ops[static_cast<std::size_t>(call.op)]));
  }
  for (std::size_t i = 0; i < recording.nodes.size(); ++i) {
    const NodeRecord& node = recording.nodes[i];
    if (node.kind != NodeKind::operation && node.kind != NodeKind::loss) continue;
    Step step{.name = node.op, .family = std::move(families[i]), .sizes = {}};
    if (node.kind == NodeKind::operation) step.family.push_back(family_of(node.op));
    tidy(step.family);
    for (const TensorRecord& input : node.inputs)
      if (input.spec != none &&
          !recording.specs[static_cast<std::size_t>(input.spec)].sizes.empty())
        step.sizes.push_back(recording.specs[static_cast<std::size_t>(input.spec)].sizes);
    if (node.kind == NodeKind::loss) {
      model.loss = std::move(step);
      model.loss_node = static_cast<NodeId>(i);
      continue;
    }
    model.steps.push_back(std::move(step));
    model.nodes.push_back(static_cast<NodeId>(i));
  }
  return model;
}

/// Links the operators of one step of a trace to nodes.
class StepTier {
 public:
  StepTier(const Trace& trace, const ModelSteps& model) : trace_(trace), model_(model) {
    outermost_.assign(trace.operators.size(), none);
    for (std::size_t i = 0; i < trace.operators.size(); ++i) {
      const Operator& op = trace.operators[i];  // Parents come first.
      const OperatorId around =
          op.parent == none ? none : outermost_[static_cast<std::size_t>(op.parent)];
      outermost_[i] = around != none ? around : is_call(op) ? static_cast<OperatorId>(i) : none;
      // The producer of an autograd node is the last operator that began with its sequence number.
      if (op.sequence && op.forward_thread == 0 && op.phase == Phase::forward)
        makers_[*op.sequence] = latest(makers_, *op.sequence, static_cast<OperatorId>(i));
    }
  }

  /// Compares the operators of the step with the model.
  void take(const StepOfTrace& step) {
    std::vector<OperatorId> ops;
    for (std::size_t i = 0; i < trace_.operators.size(); ++i)
      if (outermost_[i] == static_cast<OperatorId>(i) &&
          trace_.operators[i].begin_ns >= step.begin_ns &&
          trace_.operators[i].begin_ns <= step.end_ns)
        ops.push_back(static_cast<OperatorId>(i));
    std::ranges::stable_sort(ops, {}, [&](OperatorId id) { return at(id).begin_ns; });
    const std::vector<Step> run = run_steps(ops);
    const std::vector<std::int32_t> found = align(model_.steps, run);
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (found[i] >= 0) nodes_[ops[i]] = model_.nodes[static_cast<std::size_t>(found[i])];
    tie_loss(ops, run, found);
    tie_seed(ops);
    find_frames(step);
  }

  /// Autograd's first gradient is made before its first node runs.
  Phase phase_of(const Work& work) const {
    return work.op != none && is_seed(work.op) ? Phase::backward : work.phase;
  }

  NodeId node_of(const Work& work) const {
    if (work.op == none) return none;
    if (is_seed(work.op)) return model_.loss_node;
    if (work.phase == Phase::optimizer) return model_.optimizer_node;
    if (work.phase == Phase::forward) return node_of_outermost(work.op);
    if (const OperatorId frame = frame_around(work.op); frame != none) return made_by(frame);
    return node_before(work.op);
  }

 private:
  /// True for a call of the program; marks and frames without a namespace only enclose calls.
  static bool is_call(const Operator& op) {
    return op.kind == Operator::Kind::op && op.phase == Phase::forward &&
           op.name.find("::") != std::string::npos;
  }

  const Operator& at(OperatorId id) const { return trace_.operators[static_cast<std::size_t>(id)]; }

  OperatorId latest(const std::unordered_map<std::int64_t, OperatorId>& makers,
                    std::int64_t sequence, OperatorId candidate) const {
    const auto known = makers.find(sequence);
    return known != makers.end() && at(known->second).begin_ns > at(candidate).begin_ns
               ? known->second
               : candidate;
  }

  std::vector<Step> run_steps(const std::vector<OperatorId>& ops) const {
    std::unordered_map<OperatorId, std::size_t> places;
    std::vector<Step> run;
    run.reserve(ops.size());
    for (const OperatorId id : ops) {
      places.emplace(id, run.size());
      Step& step = run.emplace_back(Step{.name = at(id).name, .family = {}, .sizes = {}});
      for (const auto& sizes : at(id).input_sizes)
        if (!sizes.empty()) step.sizes.push_back(sizes);
    }
    for (std::size_t i = 0; i < trace_.operators.size(); ++i)
      if (const auto place = places.find(outermost_[i]); place != places.end())
        run[place->second].family.push_back(family_of(trace_.operators[i].name));
    for (Step& step : run) tidy(step.family);
    return run;
  }

  /// The loss is the end of the forward pass, one or several calls.
  void tie_loss(const std::vector<OperatorId>& ops, const std::vector<Step>& run,
                const std::vector<std::int32_t>& found) {
    if (model_.loss_node == none || model_.loss.family.empty()) return;
    for (std::size_t i = ops.size(); i > 0 && found[i - 1] < 0; --i)
      if (std::ranges::any_of(run[i - 1].family, [&](const std::string& name) {
            return std::ranges::binary_search(model_.loss.family, name);
          }))
        nodes_[ops[i - 1]] = model_.loss_node;
  }

  /// `loss.backward()` makes the gradient of the loss itself: ones, after the forward pass.
  void tie_seed(const std::vector<OperatorId>& ops) {
    if (model_.loss_node == none) return;
    for (std::size_t i = ops.size(); i > 0 && !nodes_.contains(ops[i - 1]); --i)
      if (at(ops[i - 1]).name == "aten::ones_like") {
        seeds_.insert(ops[i - 1]);
        return;
      }
  }

  bool is_seed(OperatorId op) const {
    return seeds_.contains(outermost_[static_cast<std::size_t>(op)]);
  }

  /// Autograd's nodes with a sequence number, by thread, in order of start.
  void find_frames(const StepOfTrace& step) {
    for (std::size_t i = 0; i < trace_.operators.size(); ++i) {
      const Operator& op = trace_.operators[i];
      if (op.is_autograd_node && op.sequence && op.begin_ns >= step.begin_ns &&
          op.begin_ns <= step.end_ns)
        frames_[op.thread].push_back(static_cast<OperatorId>(i));
    }
  }

  NodeId node_of_outermost(OperatorId op) const {
    const auto found = nodes_.find(outermost_[static_cast<std::size_t>(op)]);
    return found == nodes_.end() ? none : found->second;
  }

  /// The innermost autograd node around `op` with a sequence number.
  OperatorId frame_around(OperatorId op) const {
    for (; op != none; op = at(op).parent)
      if (at(op).is_autograd_node && at(op).sequence) return op;
    return none;
  }

  NodeId made_by(OperatorId frame) const {
    const auto maker = makers_.find(*at(frame).sequence);
    return maker == makers_.end() ? none : node_of_outermost(maker->second);
  }

  /// The node of the last autograd node on the thread.
  NodeId node_before(OperatorId op) const {
    const auto frames = frames_.find(at(op).thread);
    if (frames == frames_.end()) return none;
    const auto after = std::ranges::upper_bound(frames->second, at(op).begin_ns, {},
                                                [&](OperatorId id) { return at(id).begin_ns; });
    return after == frames->second.begin() ? none : made_by(*std::prev(after));
  }

  const Trace& trace_;
  const ModelSteps& model_;
  std::vector<OperatorId> outermost_;  ///< By operator: the program's call that contains it.
  std::unordered_map<std::int64_t, OperatorId> makers_;  ///< By sequence number.
  std::unordered_map<OperatorId, NodeId> nodes_;         ///< By call of the program.
  std::unordered_set<OperatorId> seeds_;  ///< Calls that create the initial gradient.
  std::map<std::int32_t, std::vector<OperatorId>> frames_;
};

void divide(Times& times, std::int64_t steps) {
  times.forward_ns /= steps, times.backward_ns /= steps, times.optimizer_ns /= steps;
}

/// Concurrent work counts once; CPU operators are not concurrent.
std::int64_t busy_ns_of(const std::vector<StepOfTrace>& steps, Measurement::Clock clock,
                        const Times& total) {
  if (clock == Measurement::Clock::host) return total.total_ns();
  std::vector<const Activity*> activities;
  for (const StepOfTrace& step : steps)
    for (const Work& work : step.work) activities.push_back(work.activity);
  std::ranges::stable_sort(activities, {},
                           [](const Activity* activity) { return activity->begin_ns; });
  return busy_ns(activities);
}

}  // namespace
}  // namespace nodes

Measurement on_nodes(const Recording& recording, const Trace& trace) {
  const nodes::ModelSteps model = nodes::model_steps(recording);
  const std::vector<nodes::StepOfTrace> steps = nodes::steps_of(trace);
  Measurement result{
      .path = trace.path,
      .device_name = trace.device_name,
      .clock = trace.activities.empty() ? Measurement::Clock::host : Measurement::Clock::device,
      .unreadable_events = trace.unreadable_events};
  result.nodes.resize(recording.nodes.size());
  result.steps = 0;
  nodes::StepTier tier(trace, model);
  nodes::Loose loose;
  for (const nodes::StepOfTrace& step : steps) {
    if (step.work.empty()) continue;
    ++result.steps;
    tier.take(step);
    loose.begin(step);
    for (nodes::Work work : step.work) {
      const NodeId node = tier.node_of(work);
      work.phase = tier.phase_of(work);
      result.total.in(work.phase) += work.ns;
      if (node == none)
        loose.add(trace, work);
      else
        result.nodes[static_cast<std::size_t>(node)].in(work.phase) += work.ns;
    }
  }
  if (result.steps == 0 || result.total.total_ns() == 0)
    throw Error(trace.path, "nothing in it took time: it has neither kernels nor operators.",
                "Record it with the activities CPU and, on a GPU, CUDA.");
  result.busy_ns = nodes::busy_ns_of(steps, result.clock, result.total) / result.steps;
  for (Times& times : result.nodes) nodes::divide(times, result.steps);
  nodes::divide(result.total, result.steps);
  result.unattributed = loose.take(result.steps);
  return result;
}

}  // namespace symprof::measure
