#include "trace/passes/restore_norms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "trace/graph/edit.h"
#include "trace/graph/name_list.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

class NormRestorer {
 public:
  explicit NormRestorer(Graph& graph) : graph_(graph), uses_(graph), edits_(graph) {
    for (std::size_t id = 0; id < graph.values.size(); ++id)
      by_name_.try_emplace(graph.values[id].name, static_cast<ValueId>(id));
  }

  void run() {
    for (const FoldedNorm& norm : graph_.export_record.folded_norms)
      if (const auto product = uses_.maker(norm.result); norm.is_known && product)
        restore(norm, *product);
    edits_.apply();
  }

 private:
  /// A value of that name, made where there is none.
  ArgumentValue leaf(const std::string& name, ValueKind kind, const FoldedNorm& norm, DType dtype) {
    if (name.empty()) return NoArgument{};
    const auto [found, is_new] = by_name_.try_emplace(name, no_value);
    if (is_new) {
      TensorSpec spec{.dtype = dtype, .sizes = {norm.channels}};
      spec.strides = contiguous_strides(spec.sizes);
      found->second = graph_.add_value({.name = name, .kind = kind, .spec = std::move(spec)});
    }
    return ValueRef{found->second};
  }

  void restore(const FoldedNorm& norm, std::size_t index) {
    const DType dtype = graph_.value(operand(graph_.nodes[index], 1)).spec->dtype;
    const auto parameter = [&](const std::string& name) {
      return leaf(name, ValueKind::parameter, norm, dtype);
    };
    const auto statistic = [&](const std::string& name) {
      return leaf(name, ValueKind::buffer, norm, dtype);
    };
    const ValueId sum = graph_.add_value({.name = graph_.nodes[index].name + "_before_norm"});
    Node& product = graph_.nodes[index];
    Node node{.name = product.name + "_norm",
              .op = "aten::batch_norm",
              .overload = "default",
              .outputs = {norm.result},
              .scope = product.scope,
              .source = product.source};
    node.arguments = {{"input", ValueRef{sum}},
                      {"weight", parameter(norm.weight)},
                      {"bias", parameter(norm.bias)},
                      {"running_mean", statistic(norm.running_mean)},
                      {"running_var", statistic(norm.running_var)},
                      {"training", true},
                      {"momentum", norm.momentum},
                      {"eps", norm.epsilon},
                      {"cudnn_enabled", true}};
    product.outputs.front() = sum;
    set_input(product, 2, parameter(norm.product_bias));
    product.scope = scope_of(norm.product_module, product.scope);
    edits_.insert_after(index, std::move(node));
  }

  /// The scope of a module beside the one of `neighbour`.
  ScopeId scope_of(const std::string& path, ScopeId neighbor) {
    const auto found = std::ranges::find(graph_.scopes, path, &Scope::path);
    if (found != graph_.scopes.end()) return static_cast<ScopeId>(found - graph_.scopes.begin());
    const ScopeId parent = graph_.scopes[static_cast<std::size_t>(neighbor)].parent;
    graph_.scopes.push_back({.path = path, .parent = parent});
    return static_cast<ScopeId>(graph_.scopes.size()) - 1;
  }

  Graph& graph_;
  const Uses uses_;
  NodeEdits edits_;
  std::unordered_map<std::string, ValueId> by_name_;
};

void collect_unknown(const Graph& graph, std::vector<std::string>& modules) {
  for (const FoldedNorm& norm : graph.export_record.folded_norms)
    if (!norm.is_known) modules.push_back(norm.module);
}

void restore_all(Graph& graph, std::vector<std::string>& unknown) {
  collect_unknown(graph, unknown);
  NormRestorer(graph).run();
  graph.export_record.folded_norms.clear();
  for (Node& node : graph.nodes)
    for (Argument& argument : node.arguments)
      change_nested(argument, [&](Graph& branch) { restore_all(branch, unknown); });
}

}  // namespace

void restore_norms(Graph& graph) {
  std::vector<std::string> unknown;
  restore_all(graph, unknown);
  if (unknown.empty()) return;
  graph.warnings.push_back(fmt::format(
      "The exporter folded batch norm into the weights before it, and what it keeps for backward "
      "is in no figure: {}. Export with torch.onnx.export(..., optimize=False).",
      list_names(unknown)));
}

}  // namespace symprof::trace
