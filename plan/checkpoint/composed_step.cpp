#include "plan/checkpoint/composed_step.h"

#include <algorithm>

#include "plan/checkpoint/host_wait.h"
#include "record/region_of_call.h"

namespace symprof::plan {
namespace {

constexpr std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

/// The nodes' tensors refer to another step's storages.
std::vector<NodeRecord> without_tensors(std::vector<NodeRecord> nodes) {
  for (NodeRecord& node : nodes) {
    node.inputs.clear();
    node.outputs.clear();
    node.parameters.clear();
  }
  return nodes;
}

}  // namespace

ComposedStep::ComposedStep(const SharedSteps& steps, std::vector<double> cost_us, HostCosts host)
    : step_(steps.again().recording()),
      cost_us_(std::move(cost_us)),
      host_(std::move(host)),
      nodes_(steps),
      ends_(steps),
      modules_(steps.modules()),
      calls_again_(modules_.size()),
      forward_calls_(modules_.size(), 0),
      keeps_calls_(modules_.size(), false),
      again_(modules_.size(), true),
      is_left_(step_.calls.size(), false),
      end_of_(step_.storages.size(), StorageEnds::never) {
  const auto no_operator = static_cast<std::int32_t>(step_.ops.size());
  step_.ops.emplace_back();
  for (const CallRecord& call : step_.calls)
    other_calls_.push_back({.op = no_operator, .phase = call.phase, .node = call.node});
  for (const StorageRecord& storage : step_.storages) bytes_.push_back(storage.bytes);
  while (first_event_ < step_.events.size() && step_.events[first_event_].call == none)
    ++first_event_;
  read_calls(steps);
  step_.nodes = without_tensors(steps.plain().recording().nodes);
}

/// The recomputed calls are the first forward calls of the same node.
void ComposedStep::read_calls(const SharedSteps& steps) {
  std::map<NodeId, std::vector<CallId>> forward;
  std::map<NodeId, std::size_t> runs;
  std::map<NodeId, std::map<std::int32_t, int>> counts;
  for (std::size_t i = 0; i < step_.calls.size(); ++i) {
    const CallRecord& call = step_.calls[i];
    const auto id = static_cast<CallId>(i);
    if (call.phase == Phase::forward) {
      forward[call.node].push_back(id);
      if (const auto module = modules_.find(region_of_call(step_, id)); module != modules_.end())
        ++forward_calls_[module->second];
    }
    if (!steps.again().is_again(id)) continue;
    CallAgain& again = calls_again_[modules_.at(region_of_call(step_, id))].emplace_back();
    again.call = id;
    again.name = {step_.ops[at(call.op)], counts[call.node][call.op]++};
    const std::size_t run = runs[call.node]++;
    if (const std::vector<CallId>& first = forward[call.node]; run < first.size())
      again.outputs = outputs_of(step_.calls[at(first[run])], first[run], id);
  }
}

std::vector<std::pair<StorageId, StorageId>> ComposedStep::outputs_of(const CallRecord& forward,
                                                                      CallId first,
                                                                      CallId again) const {
  std::vector<std::pair<StorageId, StorageId>> outputs;
  const std::vector<TensorRecord>& made_again = step_.calls[at(again)].outputs;
  for (std::size_t i = 0; i < std::min(forward.outputs.size(), made_again.size()); ++i) {
    const StorageId one = forward.outputs[i].storage, other = made_again[i].storage;
    if (one != none && other != none && step_.storages[at(one)].allocated_by == first &&
        step_.storages[at(other)].allocated_by == again)
      outputs.emplace_back(one, other);
  }
  return outputs;
}

bool ComposedStep::has(const CheckpointPlan& plan) const {
  return plan.offloaded.empty() &&
         std::ranges::all_of(plan.regions, [&](const CheckpointRegion& region) {
           return region.modules.size() == 1 && modules_.contains(region.modules.front());
         });
}

const Recording& ComposedStep::compose(const CheckpointPlan& plan) {
  choose_calls(plan);
  choose_nodes();
  choose_ends();
  write_events();
  return step_;
}

double ComposedStep::cost_us() const {
  double again_us = 0, issue_us = 0;
  std::size_t with_policy = 0;
  for (std::size_t module = 0; module < calls_again_.size(); ++module) {
    if (keeps_calls_[module]) with_policy += forward_calls_[module];
    for (const CallAgain& call : calls_again_[module]) {
      if (is_left_[at(call.call)]) continue;
      again_us += cost_us_[at(call.call)], issue_us += host_.us[at(call.call)];
      with_policy += keeps_calls_[module] ? 1 : 0;
    }
  }
  return again_us + host_wait_us(host_, again_us, issue_us, with_policy);
}

void ComposedStep::set_runs(CallId call, bool runs) {
  if (is_left_[at(call)] != runs) return;
  std::swap(step_.calls[at(call)], other_calls_[at(call)]);
  is_left_[at(call)] = !runs;
}

void ComposedStep::choose_calls(const CheckpointPlan& plan) {
  again_.assign(modules_.size(), false);
  keeps_calls_.assign(modules_.size(), false);
  std::vector<const std::vector<KeptCall>*> kept(modules_.size(), nullptr);
  for (const CheckpointRegion& region : plan.regions) {
    const std::size_t module = modules_.at(region.modules.front());
    again_[module] = true;
    kept[module] = &region.kept;
    keeps_calls_[module] = !region.kept.empty();
  }
  for (std::size_t module = 0; module < calls_again_.size(); ++module)
    for (const CallAgain& call : calls_again_[module])
      set_runs(call.call, again_[module] &&
                              std::ranges::find(*kept[module], call.name) == kept[module]->end());
}

void ComposedStep::choose_nodes() {
  for (std::size_t i = 0; i < step_.calls.size(); ++i)
    step_.calls[i].node = other_calls_[i].node = nodes_.node(static_cast<CallId>(i), again_);
  for (std::size_t i = 0; i < step_.storages.size(); ++i) {
    StorageRecord& storage = step_.storages[i];
    if (storage.allocated_by != none) storage.node = step_.calls[at(storage.allocated_by)].node;
    const ComposedNodes::Uncertainty uncertainty =
        nodes_.uncertainty(static_cast<StorageId>(i), again_);
    storage.may_live_until = uncertainty.may_live_until;
    storage.uncertainty = uncertainty.because;
    storage.end_is_open = uncertainty.end_is_open;
  }
}

void ComposedStep::choose_ends() {
  for (std::size_t i = 0; i < end_of_.size(); ++i)
    end_of_[i] = ends_.end(static_cast<StorageId>(i), again_);
  for (std::size_t module = 0; module < calls_again_.size(); ++module) {
    if (!again_[module]) continue;
    for (const CallAgain& call : calls_again_[module])
      if (is_left_[at(call.call)])
        for (const auto& [first, made_again] : call.outputs)
          end_of_[at(first)] = std::max(end_of_[at(first)], end_of_[at(made_again)]);
  }
  for (std::size_t i = 0; i < end_of_.size(); ++i) {
    const CallId by = step_.storages[i].allocated_by;
    step_.storages[i].bytes = by != none && is_left_[at(by)] ? 0 : bytes_[i];
  }
}

/// At each moment allocations come before frees.
void ComposedStep::write_events() {
  const Moments& moments = ends_.moments();
  std::vector<std::int32_t> first(static_cast<std::size_t>(moments.count()) + 1, 0);
  const auto goes = [&](std::size_t storage) {
    const Moment end = end_of_[storage];
    return end >= 0 && end < StorageEnds::never && step_.storages[storage].bytes > 0;
  };
  for (std::size_t i = 0; i < end_of_.size(); ++i)
    if (goes(i)) ++first[at(end_of_[i]) + 1];
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<StorageId> freed(at(first.back()));
  std::vector<std::int32_t> next = first;
  for (std::size_t i = 0; i < end_of_.size(); ++i)
    if (goes(i)) freed[at(next[at(end_of_[i])]++)] = static_cast<StorageId>(i);
  step_.events.resize(first_event_);
  for (Moment moment = 0; moment < moments.count(); ++moment) {
    const CallId call = moments.call(moment);
    if (const StorageId taken = moments.taken(moment);
        taken != none && step_.storages[at(taken)].bytes > 0)
      step_.events.push_back({taken, call, EventKind::allocate});
    for (std::int32_t i = first[at(moment)]; i < first[at(moment) + 1]; ++i)
      step_.events.push_back({freed[at(i)], call, EventKind::free});
  }
}

}  // namespace symprof::plan
