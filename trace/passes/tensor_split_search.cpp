#include "trace/passes/tensor_split_search.h"

#include <algorithm>
#include <string>
#include <utility>

#include "trace/graph/module_patterns.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

class SplitSearch {
 public:
  SplitSearch(const Graph& graph, const ParallelOptions& options, const ValueSpecs& specs)
      : graph_(graph), options_(options), specs_(specs), uses_(graph) {
    const std::vector<std::string> repeated = repeated_modules(graph);
    in_block_.assign(graph.scopes.size(), 0);
    if (!repeated.empty()) in_block_ = matched_scopes(graph, {repeated.front()}, "wrap");
  }

  SplitPlan run() {
    std::size_t before = 0;
    do {
      before = refused_.size();
      attempt();
    } while (refused_.size() > before);
    return std::move(plan_);
  }

  std::vector<std::size_t> whole_layers() const {
    std::vector<std::size_t> whole;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (weight_of(i) != no_value && is_in_block(i) && refused_.contains(i)) whole.push_back(i);
    return whole;
  }

 private:
  const TensorSpec* spec(ValueId id) const {
    if (id < 0) return nullptr;
    const auto& found = specs_[static_cast<std::size_t>(id)];
    return found ? &*found : nullptr;
  }

  bool is_in_block(std::size_t node) const {
    return in_block_[static_cast<std::size_t>(graph_.nodes[node].scope)] != 0;
  }

  /// A parameter of two dimensions that one node alone reads.
  bool is_own_weight(ValueId id) const {
    if (id == no_value || graph_.value(id).kind != ValueKind::parameter) return false;
    const std::string& key = graph_.value(id).storage_key;
    const auto has_key = [&](const Value& value) { return value.storage_key == key; };
    const bool is_tied = !key.empty() && std::ranges::count_if(graph_.values, has_key) > 1;
    const TensorSpec* found = spec(id);
    return !is_tied && uses_.readers(id).size() == 1 && found != nullptr &&
           found->sizes.size() == 2;
  }

  ValueId weight_of(std::size_t index) const {
    const Node& node = graph_.nodes[index];
    if (node.op != "aten::linear") return no_value;
    const ValueId weight = value_of(find_argument(node, "weight", 1));
    return is_own_weight(weight) ? weight : no_value;
  }

  void attempt() {
    plan_ = {}, origins_.clear(), used_.clear();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) visit(i);
    for (const auto& [index, split] : plan_.layers)
      if ((split == LinearSplit::column || split == LinearSplit::loss_head) &&
          !used_.contains(index))
        refused_.insert(index);
    for (const ValueId id : graph_.outputs) refuse_origins(id);
  }

  void refuse_origins(ValueId id) {
    if (const auto found = origins_.find(id); found != origins_.end())
      refused_.insert(found->second.begin(), found->second.end());
  }

  void share(const Node& node, std::int64_t dimension) {
    for (const ValueId id : node.outputs)
      if (id != no_value) plan_.shared[id] = dimension;
  }

  void share_tokens(const Node& node) {
    share(node, token_dimension);
    for (const ValueId id : node.outputs)
      if (id != no_value) plan_.tokens.insert(id);
  }

  bool can_share_tokens(ValueId id) const {
    const TensorSpec* found = spec(id);
    return options_.sequence && found != nullptr && found->sizes.size() == 3 &&
           found->sizes[token_dimension] % options_.tensor == 0;
  }

  void visit(std::size_t index) {
    const Node& node = graph_.nodes[index];
    if (node.op.starts_with("aten::_assert")) return;  // Assertions hold for whole tensors only.
    if (node.op == "aten::embedding" && visit_embedding(index)) return;
    if (weight_of(index) != no_value && visit_linear(index)) return;
    if (node.op == "aten::cross_entropy_loss" && visit_loss(index)) return;
    bool reads_tokens = false, reads_features = false;
    for_each_value(node, [&](ValueId id) {
      if (!plan_.shared.contains(id)) return;
      (plan_.tokens.contains(id) ? reads_tokens : reads_features) = true;
    });
    if (!reads_tokens && !reads_features) return;
    Node shared = node;
    const auto dimension = reads_tokens && reads_features
                               ? std::nullopt
                               : shared_output(shared, specs_, plan_.shared, options_.tensor);
    if (!dimension) return need_whole(index);
    plan_.shared_nodes[index] = std::move(shared);
    share(node, *dimension);
    if (reads_tokens)
      for (const ValueId id : node.outputs) plan_.tokens.insert(id);
    else
      hand_on_origins(node);
  }

  void hand_on_origins(const Node& node) {
    std::set<std::size_t> all;
    for_each_value(node, [&](ValueId id) {
      if (const auto found = origins_.find(id); found != origins_.end())
        all.insert(found->second.begin(), found->second.end());
    });
    for (const ValueId id : node.outputs) origins_[id] = all;
  }

  void need_whole(std::size_t index) {
    for_each_value(graph_.nodes[index], [&](ValueId id) {
      refuse_origins(id);
      if (plan_.tokens.contains(id)) plan_.joined.insert(index);
    });
  }

  /// By rows of its table, which are words; the outputs are partial sums.
  bool visit_embedding(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const ValueId weight = value_of(find_argument(node, "weight", 0));
    if (is_in_block(index) || !is_own_weight(weight) || !can_share_tokens(node.outputs.at(0)))
      return false;
    plan_.layers[index] = LinearSplit::embedding;
    share_tokens(node);
    return true;
  }

  bool visit_linear(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const ValueId input = operand(node, 0);
    const auto& sizes = spec(weight_of(index))->sizes;
    const auto shared = plan_.shared.find(input);
    const bool reads_tokens = plan_.tokens.contains(input);
    if (shared != plan_.shared.end() && !reads_tokens) return visit_row(index, shared->second);
    if (!is_in_block(index)) return visit_head(index, reads_tokens);
    if (refused_.contains(index)) return false;
    if (sizes[0] % options_.tensor != 0) return refused_.insert(index), false;
    share_features(index, LinearSplit::column);
    return true;
  }

  void share_features(std::size_t index, LinearSplit split) {
    const Node& node = graph_.nodes[index];
    plan_.layers[index] = split;
    const auto rank = static_cast<std::int64_t>(spec(node.outputs.at(0))->sizes.size());
    share(node, rank - 1);
    origins_[node.outputs[0]] = {index};
  }

  /// A layer outside of the blocks: by words, where the loss or the tokens are split.
  bool visit_head(std::size_t index, bool reads_tokens) {
    if (options_.loss && !refused_.contains(index)) {
      share_features(index, LinearSplit::loss_head);
      return true;
    }
    if (!reads_tokens) return false;
    plan_.layers[index] = LinearSplit::head;
    return true;
  }

  /// torch.distributed.tensor.parallel.loss_parallel, for classes in the last of two dimensions
  /// and plain targets.
  bool visit_loss(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const ValueId input = operand(node, 0);
    const auto shared = plan_.shared.find(input);
    const auto* smoothing = argument_as<double>(find_argument(node, "label_smoothing", 5));
    const TensorSpec* target = spec(operand(node, 1));
    if (shared == plan_.shared.end() || shared->second != 1 || spec(input)->sizes.size() != 2 ||
        value_of(find_argument(node, "weight", 2)) != no_value || target == nullptr ||
        target->sizes.size() != 1 || (smoothing != nullptr && *smoothing != 0))
      return false;
    plan_.layers[index] = LinearSplit::loss;
    used_.insert(origins_[input].begin(), origins_[input].end());
    return true;
  }

  bool visit_row(std::size_t index, std::int64_t dimension) {
    const Node& node = graph_.nodes[index];
    const ValueId input = operand(node, 0);
    const auto rank = static_cast<std::int64_t>(spec(input)->sizes.size());
    if (dimension != rank - 1 || !is_in_block(index)) return false;
    plan_.layers[index] = LinearSplit::row;
    used_.insert(origins_[input].begin(), origins_[input].end());
    if (can_share_tokens(node.outputs.at(0))) share_tokens(node);
    return true;
  }

  const Graph& graph_;
  const ParallelOptions& options_;
  const ValueSpecs& specs_;
  Uses uses_;
  std::vector<ScopeId> in_block_;
  std::set<std::size_t> refused_, used_;
  std::map<ValueId, std::set<std::size_t>> origins_;
  SplitPlan plan_;
};

}  // namespace

SplitDecision decide_split(const Graph& graph, const ParallelOptions& options,
                           const ValueSpecs& specs) {
  SplitSearch search(graph, options, specs);
  SplitDecision decision{.plan = search.run()};
  decision.whole_layers = search.whole_layers();
  return decision;
}

}  // namespace symprof::trace
