#include "trace/passes/split_bias.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

namespace symprof::trace {
namespace {

/// Where an operator keeps its bias. `spatial` is how many dimensions follow the channel's in the
/// result; negative: as many as the weight has after its first two.
struct BiasRule {
  std::string_view op;
  std::string_view argument;
  std::size_t position;
  int spatial;
};

/// Schemas: torchgen/packaged/ATen/native/native_functions.yaml; ONNX's Operators.md.
constexpr std::array rules = {
    BiasRule{"aten::linear", "bias", 2, 0},
    BiasRule{"aten::addmm", "self", 0, 0},
    BiasRule{"aten::conv1d", "bias", 2, 1},
    BiasRule{"aten::conv2d", "bias", 2, 2},
    BiasRule{"aten::conv3d", "bias", 2, 3},
    BiasRule{"aten::conv_transpose1d", "bias", 2, 1},
    BiasRule{"aten::conv_transpose2d", "bias", 2, 2},
    BiasRule{"aten::conv_transpose3d", "bias", 2, 3},
    BiasRule{"aten::convolution", "bias", 2, -1},
    BiasRule{"onnx::Gemm", "", 2, 0},
    BiasRule{"onnx::Conv", "", 2, -1},
    BiasRule{"onnx::ConvTranspose", "", 2, -1},
};

const BiasRule* find_rule(const Node& node) {
  const auto found = std::ranges::find(rules, node.op, &BiasRule::op);
  return found == rules.end() ? nullptr : &*found;
}

/// By name, where the reader gives names; else by position among the arguments without a name.
std::size_t argument_index(const Node& node, std::string_view name, std::size_t position) {
  std::size_t unnamed = 0;
  for (std::size_t i = 0; i < node.arguments.size(); ++i) {
    const std::string& own = node.arguments[i].name;
    if (own.empty() ? unnamed++ == position : own == name) return i;
  }
  return node.arguments.size();
}

bool is_one(const ArgumentValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer == 1;
  const auto* real = std::get_if<double>(&value);
  return real != nullptr && *real == 1.0;
}

bool has_factor(const Node& node) {
  return std::ranges::any_of(node.arguments, [](const Argument& argument) {
    return (argument.name == "alpha" || argument.name == "beta") && !is_one(argument.value);
  });
}

class Splitter {
 public:
  explicit Splitter(Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) names_.insert(node.name);
  }

  void run() {
    std::vector<Node> nodes;
    nodes.swap(graph_.nodes);
    for (Node& node : nodes)
      if (!split(node)) graph_.nodes.push_back(std::move(node));
  }

 private:
  bool split(Node& node) {
    const BiasRule* rule = find_rule(node);
    if (rule == nullptr || node.outputs.size() != 1 || has_factor(node)) return false;
    const std::size_t at = argument_index(node, rule->argument, rule->position);
    const auto* bias =
        at < node.arguments.size() ? std::get_if<ValueRef>(&node.arguments[at].value) : nullptr;
    if (bias == nullptr || bias->id == no_value) return false;
    const int spatial = rule->spatial < 0 ? spatial_of(node) : rule->spatial;
    if (spatial < 0) return false;
    ValueId addend = bias->id;
    const std::string name = node.name;
    const ScopeId scope = node.scope;
    const SourceId source = node.source;
    const ValueId sum = node.outputs[0];
    const ValueId product = graph_.add_value({.name = name + "_without_bias"});
    drop_bias(node, at);
    node.outputs[0] = product;
    graph_.nodes.push_back(std::move(node));
    if (spatial > 0) addend = add_view(name, addend, spatial, scope);
    add_node({.name = name + "_bias",
              .op = "aten::add",
              .overload = "Tensor",
              .arguments = {{"self", ValueRef{product}}, {"other", ValueRef{addend}}},
              .outputs = {sum},
              .scope = scope,
              .source = source});
    return true;
  }

  // addmm has no form without its first argument; the product alone is mm.
  static void drop_bias(Node& node, std::size_t at) {
    if (node.op != "aten::addmm") {
      node.arguments[at].value = NoArgument{};
      return;
    }
    node.op = "aten::mm";
    node.arguments.erase(node.arguments.begin() + static_cast<std::ptrdiff_t>(at));
    std::erase_if(node.arguments, [](const Argument& argument) {
      return argument.name == "alpha" || argument.name == "beta";
    });
    for (Argument& argument : node.arguments) {
      if (argument.name == "mat1") argument.name = "self";
    }
  }

  ValueId add_view(const std::string& name, ValueId bias, int spatial, ScopeId scope) {
    const ValueId viewed = graph_.add_value({.name = name + "_bias_view"});
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(spatial) + 1, 1);
    sizes[0] = -1;
    add_node({.name = name + "_bias_view",
              .op = "aten::view",
              .overload = "default",
              .arguments = {{"self", ValueRef{bias}}, {"size", std::move(sizes)}},
              .outputs = {viewed},
              .scope = scope});
    return viewed;
  }

  /// Spatial dimensions of a convolution, from its weight [·, ·, K…]; -1 where the file does not
  /// say.
  int spatial_of(const Node& node) const {
    const std::size_t at = argument_index(node, "weight", 1);
    if (at == node.arguments.size()) return -1;
    const auto* weight = std::get_if<ValueRef>(&node.arguments[at].value);
    if (weight == nullptr || weight->id == no_value) return -1;
    const auto& spec = graph_.values[static_cast<std::size_t>(weight->id)].spec;
    return spec ? static_cast<int>(spec->sizes.size()) - 2 : -1;
  }

  void add_node(Node node) {
    while (!names_.insert(node.name).second) node.name += "_";
    graph_.nodes.push_back(std::move(node));
  }

  Graph& graph_;
  std::unordered_set<std::string> names_;
};

}  // namespace

void split_bias(Graph& graph) { Splitter(graph).run(); }

}  // namespace symprof::trace
