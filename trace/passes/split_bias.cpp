#include "trace/passes/split_bias.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

/// The position of an operator's bias argument. `spatial`: the number of dimensions after the
/// channel in the result; negative: as many as the weight has after its first two.
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
  explicit Splitter(Graph& graph) : graph_(graph), edits_(graph) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) split(i);
    edits_.apply();
  }

 private:
  void split(std::size_t index) {
    Node& node = graph_.nodes[index];
    const BiasRule* rule = find_rule(node);
    if (rule == nullptr || node.outputs.size() != 1 || has_factor(node)) return;
    Argument* bias = find_argument(node, rule->argument, rule->position);
    ValueId addend = value_of(bias);
    const int spatial = rule->spatial < 0 ? spatial_of(node) : rule->spatial;
    if (addend == no_value || spatial < 0) return;

    const ValueId sum = node.outputs[0];
    const ValueId product = graph_.add_value({.name = node.name + "_without_bias"});
    drop_bias(node, *bias);
    node.outputs[0] = product;
    if (spatial > 0) addend = add_view(index, addend, spatial);
    edits_.insert_after(index,
                        {.name = node.name + "_bias",
                         .op = "aten::add",
                         .overload = "Tensor",
                         .arguments = {{"self", ValueRef{product}}, {"other", ValueRef{addend}}},
                         .outputs = {sum},
                         .scope = node.scope,
                         .source = node.source});
  }

  // addmm has no form without its first argument; the product alone is mm.
  static void drop_bias(Node& node, Argument& bias) {
    if (node.op != "aten::addmm") {
      bias.value = NoArgument{};
      return;
    }
    node.op = "aten::mm";
    node.arguments.erase(node.arguments.begin() + (&bias - node.arguments.data()));
    std::erase_if(node.arguments, [](const Argument& argument) {
      return argument.name == "alpha" || argument.name == "beta";
    });
    for (Argument& argument : node.arguments) {
      if (argument.name == "mat1") argument.name = "self";
    }
  }

  ValueId add_view(std::size_t index, ValueId bias, int spatial) {
    const Node& product = graph_.nodes[index];
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(spatial) + 1, 1);
    sizes[0] = -1;
    return edits_.insert_after(index,
                               {.name = product.name + "_bias_view",
                                .op = "aten::view",
                                .overload = "default",
                                .arguments = {{"self", ValueRef{bias}}, {"size", std::move(sizes)}},
                                .scope = product.scope});
  }

  /// Spatial dimensions of a convolution, from its weight [·, ·, K…]; -1 where the file does not
  /// say.
  int spatial_of(const Node& node) const {
    const ValueId weight = value_of(find_argument(node, "weight", 1));
    if (weight == no_value) return -1;
    const auto& spec = graph_.value(weight).spec;
    return spec ? static_cast<int>(spec->sizes.size()) - 2 : -1;
  }

  Graph& graph_;
  NodeEdits edits_;
};

}  // namespace

void split_bias(Graph& graph) { Splitter(graph).run(); }

}  // namespace symprof::trace
