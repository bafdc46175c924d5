// Expert parallelism over the ranks of data parallelism: each unit's experts and their exchanges.
#include <algorithm>

#include "plan/parallel/model_costs.h"
#include "trace/graph/uses.h"

namespace symprof::plan {

void ModelCosts::find_experts() {
  experts_ = trace::find_experts(graph_, specs_);
  const trace::Uses uses(graph_);
  for (const trace::ExpertProducts& one : experts_)
    for (std::size_t i = 0; i < one.products.size(); ++i) {
      const auto& spec = specs_[static_cast<std::size_t>(one.weights[i])];
      expert_weights_[one.products[i]] = &*spec;
      const auto readers = uses.readers(one.weights[i]);
      expert_readers_.insert(readers.begin(), readers.end());
    }
}

bool ModelCosts::can_spread_experts(int ranks) const {
  return !experts_.empty() &&
         std::ranges::all_of(experts_, [&](const auto& one) { return one.experts % ranks == 0; });
}

const TensorSpec* ModelCosts::expert_weights(NodeId node) const {
  const std::int32_t graph_node =
      profile_.recording.nodes[static_cast<std::size_t>(node)].graph_node;
  const auto found = expert_weights_.find(static_cast<std::size_t>(graph_node));
  return graph_node == none || found == expert_weights_.end() ? nullptr : found->second;
}

double ModelCosts::expert_bytes(std::size_t unit, const UnitShare& share) const {
  return share.expert > 1 ? split(share).expert_parameter_bytes[unit] / share.expert : 0;
}

/// Rows are assumed to be evenly distributed: a rank receives as many as it sends.
void ModelCosts::add_exchanges(std::size_t unit, const UnitShare& share, UnitCosts& costs) const {
  const double factor = share.samples / samples_;
  const auto bytes_of = [&](ValueId id) {
    return static_cast<double>(specs_[static_cast<std::size_t>(id)]->bytes());
  };
  for (const NodeId node : nodes_of(unit)) {
    const auto graph_node = static_cast<std::size_t>(
        profile_.recording.nodes[static_cast<std::size_t>(node)].graph_node);
    for (const trace::ExpertProducts& one : experts_) {
      if (one.products.front() != graph_node) continue;
      costs.count_exchanges.push_back(bytes_of(one.ends));
      costs.row_exchanges.push_back(bytes_of(one.rows) * factor);
      costs.row_exchanges.push_back(bytes_of(graph_.nodes[one.products.back()].outputs.at(0)) *
                                    factor);
    }
  }
}

}  // namespace symprof::plan
