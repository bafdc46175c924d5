// Placements inside the blocks of a model, as a split of its layers.
#include <algorithm>
#include <utility>

#include "plan/parallel/model_costs.h"

namespace symprof::plan {
namespace {

/// Smaller gains are within the estimate's noise.
constexpr double worth_it = 0.995;

}  // namespace

std::vector<NodeId> ModelCosts::nodes_of(std::size_t unit) const {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < unit_of_node_.size(); ++i)
    if (unit_of_node_[i] == unit && profile_.recording.nodes[i].kind == NodeKind::operation &&
        profile_.recording.nodes[i].graph_node != none)
      nodes.push_back(static_cast<NodeId>(i));
  return nodes;
}

/// The placements of `unit`'s type; other types are split by the rule.
TensorSplit ModelCosts::split_of_placements(const BlockPlacements& block, std::size_t unit) const {
  const TensorSplit& rule = rule_.tensors;
  TensorSplit split{.nodes = rule.nodes, .counts = rule.counts};
  const std::vector<NodeId> asked = nodes_of(unit);
  for (std::size_t other = 1; other + 1 < units_.size(); ++other) {
    const std::vector<NodeId> own = nodes_of(other);
    if (units_[other].type != units_[unit].type || own.size() != asked.size()) continue;
    for (const NodeId node : own) split.nodes[static_cast<std::size_t>(node)] = NodeSplit::whole;
    for (const NodePlacement& placed : block.nodes) {
      const auto place = std::ranges::find(asked, placed.node) - asked.begin();
      split.nodes[static_cast<std::size_t>(own[static_cast<std::size_t>(place)])] = placed.split;
    }
  }
  for (std::size_t i = 0; i < split.nodes.size(); ++i)
    if (split.nodes[i] == NodeSplit::column || split.nodes[i] == NodeSplit::row)
      split.linears.push_back(
          {profile_.recording.nodes[i].module, split.nodes[i], static_cast<NodeId>(i)});
  name_modules(profile_.recording, blocks_, split);
  return split;
}

void ModelCosts::find_placements(
    UnitShare share, const std::function<double(profile::CollectiveKind, double)>& collective_us) {
  // The last block reads the output of the one before it.
  const std::size_t unit = units_.size() - 2;
  std::vector<bool> is_in_block(graph_.nodes.size());
  std::vector<std::vector<CallId>> calls(profile_.recording.nodes.size());
  for (const CallId id : units_[unit].calls)
    calls[static_cast<std::size_t>(profile_.recording.calls[static_cast<std::size_t>(id)].node)]
        .push_back(id);
  for (std::size_t i = 1; i + 1 < units_.size(); ++i)
    for (const NodeId node : nodes_of(i))
      is_in_block[static_cast<std::size_t>(
          profile_.recording.nodes[static_cast<std::size_t>(node)].graph_node)] = true;
  const auto node_us = [&](NodeId node, double own, NodeSplit split) {
    double us = 0;
    for (const CallId id : calls[static_cast<std::size_t>(node)])
      us += call_us(id, share.samples, own, split);
    return us;
  };
  const BlockQuestion question{.recording = profile_.recording,
                               .graph = graph_,
                               .specs = specs_,
                               .is_in_block = is_in_block,
                               .ranks = share.tensor,
                               .sequence = share.sequence,
                               .samples = share.samples / samples_,
                               .node_us = node_us,
                               .collective_us = collective_us};
  const auto block = block_placements(question, nodes_of(unit), rule_.tensors.nodes);
  if (!block) return;
  const bool rule_works = block->rule_us && rule_.tensors.allows(share.tensor);
  TensorSplit split = split_of_placements(*block, unit);
  if (!split.linears.empty() && (!rule_works || block->us < *block->rule_us * worth_it))
    by_node_[{share.tensor, share.sequence}] = with_parameters(std::move(split));
  share.by_node = has_placements(share.tensor, share.sequence);
  found_.push_back({share, *block});
}

bool ModelCosts::has_placements(int tensor, bool sequence) const {
  return by_node_.contains({tensor, sequence});
}

}  // namespace symprof::plan
