#include "trace/passes/host_values.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace symprof::trace {
namespace {

/// Operators whose predicate or operands decide how the graph goes on.
constexpr std::array<std::string_view, 2> deciding = {"higher_order::cond",
                                                      "higher_order::while_loop"};

/// Operators that give numbers, which are on the host anyway.
bool gives_numbers(const Node& node) {
  return node.op.starts_with("builtin::") || node.op.starts_with("aten::sym_");
}

bool is_one_element(const std::optional<TensorSpec>& spec) { return spec && spec->numel() == 1; }

class Finder {
 public:
  explicit Finder(const Graph& graph)
      : graph_(graph),
        computable_(graph.values.size(), false),
        found_{std::vector<bool>(graph.values.size(), false),
               std::vector<bool>(graph.nodes.size(), false)} {}

  HostValues run(GraphPlace place) {
    find_computable(place);
    for (const Node& node : graph_.nodes)
      if (std::ranges::find(deciding, node.op) != deciding.end())
        for_each_value(node, [&](ValueId id) { want(id); });
    if (place == GraphPlace::nested)
      for (const ValueId id : graph_.outputs) want(id);
    // From the last node to the first: what makes a wanted value wants its operands.
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const Node& node = graph_.nodes[i];
      const bool is_wanted = std::ranges::any_of(node.outputs, [&](ValueId id) {
        return id != no_value && found_.values[static_cast<std::size_t>(id)];
      });
      if (!is_wanted || gives_numbers(node)) continue;
      found_.nodes[i] = true;
      for_each_value(node, [&](ValueId id) { want(id); });
    }
    return std::move(found_);
  }

 private:
  /// Inputs of a nested graph are as the graph around it has them: real, or without values.
  void find_computable(GraphPlace place) {
    for (std::size_t id = 0; id < graph_.values.size(); ++id) {
      const Value& value = graph_.values[id];
      const bool is_number = value.kind == ValueKind::input && !value.spec;
      const bool is_nested_input = place == GraphPlace::nested && value.kind == ValueKind::input;
      computable_[id] = is_number || is_nested_input ||
                        (value.kind == ValueKind::constant && value.constant != nullptr &&
                         is_one_element(value.constant->spec));
    }
    for (const Node& node : graph_.nodes)
      if (gives_numbers(node) || is_computable(node))
        for (const ValueId id : node.outputs)
          if (id != no_value) computable_[static_cast<std::size_t>(id)] = true;
  }

  bool is_computable(const Node& node) const {
    bool operands = node.op.starts_with("aten::");
    for_each_value(node, [&](ValueId id) {
      operands &= id == no_value || computable_[static_cast<std::size_t>(id)];
    });
    return operands && std::ranges::all_of(node.outputs, [&](ValueId id) {
             if (id == no_value) return true;
             const auto& spec = graph_.values[static_cast<std::size_t>(id)].spec;
             return is_one_element(spec) && !is_floating_point(spec->dtype);
           });
  }

  void want(ValueId id) {
    if (id != no_value && computable_[static_cast<std::size_t>(id)])
      found_.values[static_cast<std::size_t>(id)] = true;
  }

  const Graph& graph_;
  std::vector<bool> computable_;
  HostValues found_;
};

}  // namespace

HostValues host_values(const Graph& graph, GraphPlace place) { return Finder(graph).run(place); }

}  // namespace symprof::trace
