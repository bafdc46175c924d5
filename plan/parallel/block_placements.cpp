#include "plan/parallel/block_placements.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "trace/graph/uses.h"
#include "trace/passes/sharding_rules.h"

namespace symprof::plan {
namespace {

using profile::CollectiveKind;

constexpr double impossible = std::numeric_limits<double>::infinity();
constexpr Placement tokens = 1;  // Of [batch, tokens, features].

class BlockProblem {
 public:
  BlockProblem(const BlockQuestion& question, const std::vector<NodeId>& nodes)
      : question_(question) {
    problem_.around = question.sequence ? tokens : whole;
    find_values_of_blocks();
    for (const NodeId id : nodes) add_node(id);
    find_taken(nodes);
    problem_.values = values_.size();
    problem_.redistribution_us = [this](std::size_t value, Placement from, Placement to) {
      return redistribution_us(value, from, to);
    };
  }

  PlacementProblem& problem() { return problem_; }

 private:
  const NodeRecord& record(NodeId id) const {
    return question_.recording.nodes[static_cast<std::size_t>(id)];
  }
  const Node& graph_node(NodeId id) const {
    return question_.graph.nodes[static_cast<std::size_t>(record(id).graph_node)];
  }
  const TensorSpec* spec(ValueId id) const {
    if (id < 0) return nullptr;
    const auto& found = question_.specs[static_cast<std::size_t>(id)];
    return found ? &*found : nullptr;
  }
  bool is_parameter(ValueId id) const {
    return id >= 0 && question_.graph.value(id).kind == ValueKind::parameter;
  }
  double bytes_of(ValueId id) const {
    return static_cast<double>(spec(id)->bytes()) * question_.samples;
  }

  /// True for outputs of earlier blocks; constants are replicated, and not values of the problem.
  bool is_given(ValueId id) const {
    const TensorSpec* found = spec(id);
    return found != nullptr && found->sizes.size() == 3 && is_floating_point(found->dtype) &&
           from_blocks_.contains(id);
  }

  std::size_t value_of(ValueId id) {
    const auto [known, is_new] = known_.emplace(id, values_.size());
    if (is_new) values_.push_back(id), dimensions_.emplace_back();
    return known->second;
  }

  void add_node(NodeId id) {
    const Node& node = graph_node(id);
    if (node.op.starts_with("aten::_assert")) return;
    PlacementNode added{.node = id};
    for_each_value(node, [&](ValueId value) {
      if (value < 0 || is_parameter(value)) return;
      const bool is_new = !known_.contains(value);
      if (is_new && !is_given(value)) return;
      const std::size_t place = value_of(value);
      if (is_new) {
        problem_.given.push_back(place);
        if (question_.sequence) dimensions_[place].insert(tokens);
      }
      if (std::ranges::find(added.inputs, place) == added.inputs.end())
        added.inputs.push_back(place);
    });
    add_options(added, node);
    for (const ValueId output : node.outputs)
      if (output != no_value && spec(output) != nullptr) add_output(added, output);
    problem_.nodes.push_back(std::move(added));
  }

  void add_output(PlacementNode& added, ValueId output) {
    const std::size_t place = value_of(output);
    added.outputs.push_back(place);
    for (const PlacementOption& option : added.options) {
      if (option.output >= 0) dimensions_[place].insert(option.output);
      // A partial sum may be reduce-scattered.
      if (option.output == partial && question_.sequence) dimensions_[place].insert(tokens);
    }
  }

  void find_values_of_blocks() {
    for (std::size_t i = 0; i < question_.graph.nodes.size(); ++i) {
      const std::vector<ValueId>& outputs = question_.graph.nodes[i].outputs;
      if (question_.is_in_block[i]) from_blocks_.insert(outputs.begin(), outputs.end());
    }
  }

  void add_options(PlacementNode& added, const Node& node) {
    if (added.inputs.empty() || !question_.sequence)
      added.options.push_back({std::vector<Placement>(added.inputs.size(), whole), whole,
                               question_.node_us(added.node, 1, NodeSplit::whole)});
    if (node.op == "aten::linear") add_linear_options(added, node);
    std::vector<Placement> inputs(added.inputs.size(), whole);
    add_shared(added, node, inputs, 0);
  }

  void add_linear_options(PlacementNode& added, const Node& node) {
    const ValueId weight = trace::value_of(trace::find_argument(node, "weight", 1));
    const TensorSpec* sizes = spec(weight);
    const TensorSpec* input = spec(trace::operand(node, 0));
    if (!is_parameter(weight) || sizes == nullptr || sizes->sizes.size() != 2 ||
        added.inputs.size() != 1 || input == nullptr)
      return;
    const auto features = static_cast<Placement>(input->sizes.size() - 1);
    const double share = 1.0 / question_.ranks;
    if (sizes->sizes[0] % question_.ranks == 0)
      added.options.push_back({{whole_for_columns},
                               features,
                               question_.node_us(added.node, share, NodeSplit::column),
                               NodeSplit::column});
    if (sizes->sizes[1] % question_.ranks == 0)
      added.options.push_back({{features},
                               partial,
                               question_.node_us(added.node, share, NodeSplit::row),
                               NodeSplit::row});
  }

  /// All combinations of sharded and replicated inputs, from index `place` on.
  void add_shared(PlacementNode& added, const Node& node, std::vector<Placement>& inputs,
                  std::size_t place) {
    if (place == inputs.size()) return add_rule(added, node, inputs);
    inputs[place] = whole;
    add_shared(added, node, inputs, place + 1);
    for (const Placement dimension : dimensions_[added.inputs[place]]) {
      inputs[place] = dimension;
      add_shared(added, node, inputs, place + 1);
    }
    inputs[place] = whole;
  }

  void add_rule(PlacementNode& added, const Node& node, const std::vector<Placement>& inputs) {
    trace::SharedDimensions shared;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] >= 0)
        shared[values_[added.inputs[i]]] = static_cast<std::uint8_t>(inputs[i]);  // Not negative.
    if (shared.empty()) return;
    Node changed = node;
    const auto output = trace::shared_output(changed, question_.specs, shared, question_.ranks);
    if (!output || !divides(node, *output)) return;
    double us = question_.node_us(added.node, 1.0 / question_.ranks, NodeSplit::inside);
    for_each_value(node, [&](ValueId value) {
      // If only some tokens are local, the gradient of a parameter is a partial sum.
      if (is_parameter(value))
        us += question_.collective_us(CollectiveKind::all_reduce,
                                      static_cast<double>(spec(value)->bytes()));
    });
    added.options.push_back({inputs, static_cast<Placement>(*output), us, NodeSplit::inside});
  }

  bool divides(const Node& node, std::int64_t dimension) const {
    const TensorSpec* output = node.outputs.empty() ? nullptr : spec(node.outputs[0]);
    return output != nullptr &&
           output->sizes.at(static_cast<std::size_t>(dimension)) % question_.ranks == 0;
  }

  void find_taken(const std::vector<NodeId>& nodes) {
    const trace::Uses uses(question_.graph);
    std::set<std::size_t> own;
    for (const NodeId id : nodes) own.insert(static_cast<std::size_t>(record(id).graph_node));
    for (const PlacementNode& node : problem_.nodes)
      for (const std::size_t place : node.outputs) {
        const auto readers = uses.readers(values_[place]);
        if (uses.is_output(values_[place]) ||
            std::ranges::any_of(readers, [&](std::size_t one) { return !own.contains(one); }))
          problem_.taken.push_back(place);
      }
  }

  /// Includes the collectives of backward: what forward gathers, backward scatters.
  double redistribution_us(std::size_t value, Placement from, Placement to) const {
    const double bytes = bytes_of(values_[value]);
    const auto us = [&](CollectiveKind kind) { return question_.collective_us(kind, bytes); };
    const bool is_sum = from == partial;
    if (from == whole && to == whole_for_columns) return us(CollectiveKind::all_reduce);
    const bool has_tokens = question_.sequence && spec(values_[value])->sizes.size() == 3;
    const double both = us(CollectiveKind::all_gather) + us(CollectiveKind::reduce_scatter);
    if (has_tokens && ((from == tokens && to == whole_for_columns) || (is_sum && to == tokens)))
      return both;
    if (question_.sequence || !is_sum || to >= 0) return impossible;
    return us(CollectiveKind::all_reduce) * (to == whole_for_columns ? 2 : 1);
  }

  const BlockQuestion& question_;
  PlacementProblem problem_;
  std::vector<ValueId> values_;
  std::vector<std::set<Placement>> dimensions_;  // By value: dimensions in which it may be sharded.
  std::map<ValueId, std::size_t> known_;
  std::set<ValueId> from_blocks_;
};

/// The problem restricted to the layers that `rule` splits.
PlacementProblem ruled(const PlacementProblem& problem, const std::vector<NodeSplit>& rule) {
  PlacementProblem own = problem;
  own.joins = false;
  const auto is_layer = [](NodeSplit split) {
    return split == NodeSplit::column || split == NodeSplit::row;
  };
  for (PlacementNode& node : own.nodes) {
    const NodeSplit wanted = rule[static_cast<std::size_t>(node.node)];
    std::erase_if(node.options, [&](const PlacementOption& option) {
      return (is_layer(wanted) || is_layer(option.split)) && option.split != wanted;
    });
  }
  return own;
}

}  // namespace

std::optional<BlockPlacements> block_placements(const BlockQuestion& question,
                                                const std::vector<NodeId>& nodes,
                                                const std::vector<NodeSplit>& rule) {
  BlockProblem made(question, nodes);
  const PlacementProblem& problem = made.problem();
  if (problem.given.empty()) return std::nullopt;
  const std::optional<PlacementAnswer> least = least_placements(problem);
  if (!least) return std::nullopt;
  BlockPlacements found{.us = least->us};
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    const PlacementOption& option = problem.nodes[i].options[least->options[i]];
    found.nodes.push_back({problem.nodes[i].node, option.output, option.split});
  }
  if (const auto by_rule = least_placements(ruled(problem, rule))) found.rule_us = by_rule->us;
  return found;
}

std::string text_of(Placement placement) {
  if (placement == partial) return "partial";
  return placement < 0 ? "replicate" : fmt::format("shard({})", static_cast<int>(placement));
}

}  // namespace symprof::plan
