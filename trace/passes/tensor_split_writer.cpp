#include <fmt/format.h>

#include <string>
#include <utility>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/passes/tensor_parallel.h"
#include "trace/passes/tensor_split_search.h"

namespace symprof::trace {
namespace {

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
  /// The module's argument is the gathered tensor (PrepareModuleInput), and the module keeps it
  /// alive until it returns.
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
    after.source = graph_.nodes[index].source;  // Variables hold the redistributed tensor.
    edits_.insert_after(index, std::move(after));
  }

  void write(std::size_t index, LinearSplit split) {
    Node& node = graph_.nodes[index];
    const ValueId weight = value_of(find_argument(node, "weight", 1));
    const ValueId bias = value_of(find_argument(node, "bias", 2));
    const ValueId output = node.outputs.at(0);
    switch (split) {
      case LinearSplit::column:
      case LinearSplit::loss_head:
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
      case LinearSplit::loss:
        return write_loss(index);
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

  void write_loss(std::size_t index) {
    Node& node = graph_.nodes[index];
    const auto number = [&](const char* name, std::size_t position, std::int64_t otherwise) {
      const auto* given = argument_as<std::int64_t>(find_argument(node, name, position));
      return given == nullptr ? otherwise : *given;
    };
    constexpr std::int64_t mean = 1, nothing_ignored = -100;  // torch.nn.functional's own.
    const std::int64_t reduction = number("reduction", 3, mean);
    const std::int64_t ignored = number("ignore_index", 4, nothing_ignored);
    const ValueId words = operand(node, 0), targets = operand(node, 1);
    node.op = std::string(tensor_parallel_prefix) + "cross_entropy", node.overload.clear();
    node.arguments = {
        {"", ValueRef{words}}, {"", ValueRef{targets}}, {"", reduction}, {"", ignored}};
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

void write_split(Graph& graph, const ParallelOptions& options, const ValueSpecs& specs,
                 const SplitPlan& plan) {
  SplitWriter(graph, options, specs, plan).run();
}

}  // namespace symprof::trace
