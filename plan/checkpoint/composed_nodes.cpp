#include "plan/checkpoint/composed_nodes.h"

#include <algorithm>
#include <cstddef>

#include "record/region_of_call.h"

namespace symprof::plan {
namespace {

constexpr std::size_t index_of(std::int32_t id) { return static_cast<std::size_t>(id); }

/// Nodes without calls free their values when the next node with calls begins.
void carry_on(std::vector<NodeId>& nodes) {
  for (std::size_t i = 1; i < nodes.size(); ++i)
    if (nodes[i] == none) nodes[i] = nodes[i - 1];
}

ComposedNodes::Uncertainty uncertainty_of(const Recording& recording, StorageId storage) {
  const StorageRecord& record = recording.storages[index_of(storage)];
  return {record.may_live_until, record.uncertainty, record.end_is_open};
}

}  // namespace

ComposedNodes::ComposedNodes(const SharedSteps& steps) {
  read_nodes(steps);
  read_uncertainties(steps);
}

void ComposedNodes::read_nodes(const SharedSteps& steps) {
  const Recording &plain = steps.plain().recording(), &again = steps.again().recording();
  modules_.resize(again.nodes.size(), none);
  plain_of_.resize(again.nodes.size(), none);
  again_of_.resize(plain.nodes.size(), none);
  calls_.resize(again.calls.size());
  for (std::size_t i = 0; i < again.calls.size(); ++i) {
    const auto call = static_cast<CallId>(i);
    calls_[i].again = again.calls[i].node;
    if (const auto found = steps.modules().find(region_of_call(again, call));
        found != steps.modules().end())
      modules_[index_of(calls_[i].again)] = static_cast<int>(found->second);
    if (steps.again().is_again(call)) continue;
    calls_[i].plain = steps.plain().call(index_of(steps.again().place(call))).node;
    if (again.calls[i].phase != Phase::forward) continue;
    NodeId& last = plain_of_[index_of(calls_[i].again)];
    last = std::max(last, calls_[i].plain);
    again_of_[index_of(calls_[i].plain)] = calls_[i].again;
  }
  carry_on(plain_of_);
  carry_on(again_of_);
}

void ComposedNodes::read_uncertainties(const SharedSteps& steps) {
  const Recording& again = steps.again().recording();
  uncertainties_.resize(again.storages.size());
  const auto in_plain = steps.plain().made(), in_again = steps.again().made();
  for (std::size_t place = 0; place < in_plain.size(); ++place)
    for (std::size_t i = 0; i < std::min(in_plain[place].size(), in_again[place].size()); ++i) {
      const StorageId storage = in_again[place][i];
      Uncertainties& uncertainties = uncertainties_[index_of(storage)];
      uncertainties.maker = steps.again().call(place).node;
      uncertainties.plain = uncertainty_of(steps.plain().recording(), in_plain[place][i]);
      uncertainties.again = uncertainty_of(again, storage);
      if (NodeId& until = uncertainties.again.may_live_until; until != none)
        until = node_of_plain(until, uncertainties.plain.may_live_until);
    }
}

/// If the region ending with that node is not recomputed, the value is freed within it as in the
/// plain step.
NodeId ComposedNodes::node_of_plain(NodeId node_again, NodeId in_plain) const {
  const NodeId last = plain_of_[index_of(node_again)];
  if (in_plain == none || again_of_[index_of(in_plain)] == none) return last;
  return plain_of_[index_of(again_of_[index_of(in_plain)])] == last ? in_plain : last;
}

bool ComposedNodes::runs_again(NodeId node_again, const std::vector<bool>& again) const {
  if (node_again == none || modules_[index_of(node_again)] == none) return false;
  return again[index_of(modules_[index_of(node_again)])];
}

NodeId ComposedNodes::node(CallId call, const std::vector<bool>& again) const {
  const CallNodes& nodes = calls_[index_of(call)];
  return nodes.plain == none || runs_again(nodes.again, again) ? plain_of_[index_of(nodes.again)]
                                                               : nodes.plain;
}

/// For a region that is not recomputed: the node itself.
NodeId ComposedNodes::last_of_region(NodeId node_plain, const std::vector<bool>& again) const {
  const NodeId one = again_of_[index_of(node_plain)];
  return runs_again(one, again) ? plain_of_[index_of(one)] : node_plain;
}

ComposedNodes::Uncertainty ComposedNodes::uncertainty(StorageId storage,
                                                      const std::vector<bool>& again) const {
  const Uncertainties& uncertainties = uncertainties_[index_of(storage)];
  Uncertainty uncertainty =
      runs_again(uncertainties.maker, again) ? uncertainties.again : uncertainties.plain;
  if (NodeId& until = uncertainty.may_live_until; until != none)
    until = last_of_region(until, again);
  return uncertainty;
}

}  // namespace symprof::plan
