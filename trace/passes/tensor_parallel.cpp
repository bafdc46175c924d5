#include "trace/passes/tensor_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trace/graph/edit.h"
#include "trace/graph/module_patterns.h"
#include "trace/graph/uses.h"
#include "trace/passes/sharding_rules.h"

namespace symprof::trace {
namespace {

enum class LinearSplit : std::uint8_t { column, row, head, embedding };

/// What becomes of the nodes in one attempt.
struct SplitPlan {
  std::map<std::size_t, LinearSplit> layers;  ///< By node.
  std::map<std::size_t, Node> shared_nodes;   ///< Those that work on a share, rewritten.
  std::set<std::size_t> joined;               ///< Nodes that need tokens whole.
  std::set<ValueId> tokens;                   ///< Values of which a rank has tokens.
  SharedDimensions shared;
};

constexpr std::int64_t token_dimension = 1;

/// Tries until no layer is refused. A column layer is refused where something between it and a row
/// layer does not work on a share.
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

  /// Linear layers of blocks that stay whole.
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
      if (split == LinearSplit::column && !used_.contains(index)) refused_.insert(index);
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
    if (node.op.starts_with("aten::_assert")) return;  // What held of whole tensors.
    if (node.op == "aten::embedding" && visit_embedding(index)) return;
    if (weight_of(index) != no_value && visit_linear(index)) return;
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
    if (refused_.contains(index)) return false;
    if (!is_in_block(index)) {
      if (!reads_tokens) return false;
      plan_.layers[index] = LinearSplit::head;
      return true;
    }
    if (sizes[0] % options_.tensor != 0) return refused_.insert(index), false;
    plan_.layers[index] = LinearSplit::column;
    const auto rank = static_cast<std::int64_t>(spec(node.outputs.at(0))->sizes.size());
    share(node, rank - 1);
    origins_[node.outputs[0]] = {index};
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

/// Writes a plan into the graph.
class SplitWriter {
 public:
  SplitWriter(Graph& graph, const ParallelOptions& options, const ValueSpecs& specs,
              const SplitPlan& plan)
      : graph_(graph), options_(options), specs_(specs), plan_(plan), edits_(graph) {}

  void run() {
    for (const auto& [index, node] : plan_.shared_nodes) graph_.nodes[index] = node;
    for (const auto& [index, node] : plan_.shared_nodes) note_partial(index);
    for (const auto& [index, split] : plan_.layers) write(index, split);
    for (const auto& [input, columns] : columns_of_) gather_for(input, columns);
    for (const std::size_t index : plan_.joined) join_inputs(index);
    for (ValueId& id : graph_.outputs)
      if (plan_.tokens.contains(id))
        id = edits_.insert_after(graph_.nodes.size() - 1, join(id, token_dimension, 0));
    edits_.apply();
    hold_arguments();
  }

 private:
  /// The module is given what is gathered (PrepareModuleInput), and holds it until it returns.
  void hold_arguments() {
    for (const auto& [argument, scope] : arguments_)
      for (std::size_t i = graph_.nodes.size(); i-- > 0;)
        if (common_scope(graph_.nodes[i].scope, scope) == scope) {
          graph_.nodes[i].releases.push_back(argument);
          break;
        }
  }

  Node make(const char* name, ValueId input, ScopeId scope,
            const std::vector<std::int64_t>& numbers) {
    Node node;
    node.op = std::string(tensor_parallel_prefix) + name;
    node.name = graph_.value(input).name + "_" + name;
    node.scope = scope;
    node.arguments.push_back({"", ValueRef{input}});
    node.arguments.push_back({"", options_.tensor});
    for (const std::int64_t number : numbers) node.arguments.push_back({"", number});
    return node;
  }

  Node join(ValueId input, std::int64_t dimension, ScopeId scope) {
    const auto& sizes = specs_[static_cast<std::size_t>(input)]->sizes;
    return make("join", input, scope, {dimension, sizes[static_cast<std::size_t>(dimension)]});
  }

  void divide(ValueId id, std::size_t dimension) {
    if (id == no_value || !graph_.value(id).spec) return;
    TensorSpec& spec = *graph_.value(id).spec;
    std::int64_t& size = spec.sizes.at(dimension);
    size = (size + options_.tensor - 1) / options_.tensor;
    spec.strides = contiguous_strides(spec.sizes);
  }

  /// The node makes another value, of which `after` makes the old one.
  void follow(std::size_t index, const char* name, const std::vector<std::int64_t>& numbers) {
    const ValueId whole = graph_.nodes[index].outputs.at(0);
    const ValueId part = graph_.add_value({.name = graph_.value(whole).name + "_part"});
    graph_.nodes[index].outputs[0] = part;
    Node after = make(name, part, graph_.nodes[index].scope, numbers);
    after.outputs = {whole};
    after.source = graph_.nodes[index].source;  // Names have what is redistributed.
    edits_.insert_after(index, std::move(after));
  }

  void write(std::size_t index, LinearSplit split) {
    Node& node = graph_.nodes[index];
    const ValueId weight = value_of(find_argument(node, "weight", 1));
    const ValueId bias = value_of(find_argument(node, "bias", 2));
    const ValueId output = node.outputs.at(0);
    switch (split) {
      case LinearSplit::column:
        divide(weight, 0), divide(bias, 0);
        columns_of_[operand(node, 0)].push_back(index);
        return;
      case LinearSplit::row:
        divide(weight, 1);
        return plan_.tokens.contains(output) ? follow(index, "scatter", {token_dimension})
                                             : follow(index, "reduce", {});
      case LinearSplit::head:
        return write_head(index, weight, bias);
      case LinearSplit::embedding:
        return write_embedding(index);
    }
  }

  void write_head(std::size_t index, ValueId weight, ValueId bias) {
    const Node& node = graph_.nodes[index];
    const auto& sizes = specs_[static_cast<std::size_t>(node.outputs.at(0))]->sizes;
    divide(weight, 0), divide(bias, 0);
    columns_of_[operand(node, 0)].push_back(index);
    follow(index, "join", {static_cast<std::int64_t>(sizes.size()) - 1, sizes.back()});
  }

  void write_embedding(std::size_t index) {
    Node& node = graph_.nodes[index];
    const ValueId weight = value_of(find_argument(node, "weight", 0));
    const ValueId words = value_of(find_argument(node, "indices", 1));
    const std::int64_t rows = graph_.value(weight).spec->sizes[0];
    divide(weight, 0);
    node.op = std::string(tensor_parallel_prefix) + "embedding", node.overload.clear();
    node.arguments = {{"", ValueRef{weight}}, {"", ValueRef{words}}, {"", rows}};
    follow(index, "scatter", {token_dimension});
  }

  /// The gradient of a parameter that works on a share of the tokens is a part of a sum.
  void note_partial(std::size_t index) {
    if (!plan_.tokens.contains(graph_.nodes[index].outputs.at(0))) return;
    Node& node = graph_.nodes[index];
    for (Argument& argument : node.arguments) {
      auto* ref = std::get_if<ValueRef>(&argument.value);
      if (ref == nullptr || ref->id == no_value) continue;
      if (graph_.value(ref->id).kind == ValueKind::parameter)
        ref->id = edits_.insert_before(index, make("partial", ref->id, node.scope, {}));
    }
  }

  ScopeId common_scope(ScopeId a, ScopeId b) const {
    std::set<ScopeId> around;
    const auto parent = [&](ScopeId scope) {
      return graph_.scopes[static_cast<std::size_t>(scope)].parent;
    };
    for (ScopeId scope = a; scope != 0; scope = parent(scope)) around.insert(scope);
    for (ScopeId scope = b; scope != 0; scope = parent(scope))
      if (around.contains(scope)) return scope;
    return 0;
  }

  /// A whole input has a gradient that is summed over the ranks for each layer. Tokens are gathered
  /// once, for all layers that read them, whose gradients are summed before they are scattered.
  void gather_for(ValueId input, const std::vector<std::size_t>& columns) {
    if (!plan_.tokens.contains(input)) {
      for (const std::size_t index : columns)
        set_input(index, edits_.insert_before(
                             index, make("reduce_gradient", input, graph_.nodes[index].scope, {})));
      return;
    }
    ScopeId scope = graph_.nodes[columns.front()].scope;
    for (const std::size_t index : columns) scope = common_scope(scope, graph_.nodes[index].scope);
    ValueId rest =
        edits_.insert_before(columns.front(), make("gather", input, scope, {token_dimension}));
    arguments_.emplace_back(rest, scope);
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
      Node fork = make("fork", rest, scope, {});
      const ValueId one = graph_.add_value({.name = fmt::format("{}_{}", fork.name, i)});
      rest = graph_.add_value({.name = fmt::format("{}_{}_rest", fork.name, i)});
      fork.outputs = {one, rest};
      edits_.insert_before(columns[i], std::move(fork));
      set_input(columns[i], one);
    }
    set_input(columns.back(), rest);
  }

  void set_input(std::size_t index, ValueId id) {
    graph_.nodes[index].arguments.front().value = ValueRef{id};
  }

  void join_inputs(std::size_t index) {
    std::map<ValueId, ValueId> whole;
    const ScopeId scope = graph_.nodes[index].scope;
    for_each_value(std::as_const(graph_.nodes[index]), [&](ValueId id) {
      if (plan_.tokens.contains(id) && !whole.contains(id))
        whole[id] = edits_.insert_before(index, join(id, token_dimension, scope));
    });
    for_each_value(graph_.nodes[index], [&](ValueId& id) {
      if (const auto found = whole.find(id); found != whole.end()) id = found->second;
    });
  }

  Graph& graph_;
  const ParallelOptions& options_;
  const ValueSpecs& specs_;
  const SplitPlan& plan_;
  NodeEdits edits_;
  std::map<ValueId, std::vector<std::size_t>> columns_of_;
  std::vector<std::pair<ValueId, ScopeId>> arguments_;  // Of calls of modules.
};

}  // namespace

std::set<ValueId> distributed_parameters(const Graph& graph) {
  const Uses uses(graph);
  const auto op_of = [&](std::optional<std::size_t> node) {
    return node ? std::string_view(graph.nodes[*node].op) : std::string_view();
  };
  const auto is_added = [](std::string_view op) { return op.starts_with(tensor_parallel_prefix); };
  std::set<ValueId> found;
  for (const Node& node : graph.nodes) {
    bool is_split = is_added(node.op);
    if (node.op == "aten::linear" && !node.outputs.empty()) {
      const std::string_view after = op_of(uses.last_reader(node.outputs[0]));
      is_split = is_added(op_of(uses.maker(operand(node, 0)))) ||
                 (is_added(after) && !after.ends_with("reduce_gradient"));
    }
    if (!is_split) continue;
    for_each_value(node, [&](ValueId id) {
      if (id != no_value && graph.value(id).kind == ValueKind::parameter) found.insert(id);
    });
  }
  return found;
}

void split_tensors(Graph& graph, const ParallelOptions& options, const ValueSpecs& specs) {
  SplitSearch search(graph, options, specs);
  const SplitPlan plan = search.run();
  const bool has_rows = std::ranges::any_of(
      plan.layers, [](const auto& layer) { return layer.second == LinearSplit::row; });
  if (!has_rows)
    throw Error(SettingRef{"parallel", options.text},
                fmt::format("{} has no linear layers in repeated blocks that {} ranks can share.",
                            graph.path, options.tensor),
                "Take a number that divides heads and features, or another engine.");
  const std::vector<std::size_t> whole = search.whole_layers();
  if (!whole.empty())
    graph.warnings.push_back(fmt::format(
        "tensor parallelism leaves {} linear layers of blocks whole on each rank (first {}): what "
        "follows them cannot work on a share of {}.",
        whole.size(), graph.nodes[whole.front()].name, options.tensor));
  SplitWriter(graph, options, specs, plan).run();
}

}  // namespace symprof::trace
