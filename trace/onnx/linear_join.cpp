#include "trace/onnx/linear_join.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "trace/graph/edit.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

class LinearJoiner {
 public:
  LinearJoiner(Graph& graph, const std::vector<std::string>& calls, const NamedParameters& named)
      : graph_(graph), calls_(calls), named_(named), uses_(graph) {}

  /// By node: true if it may be removed when unused.
  std::vector<bool> run() {
    std::vector<Layer> layers;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (is_product(i)) layers.push_back({i, bias_of(i), own_layout(i)});
    candidates_.assign(graph_.nodes.size(), false);
    for (const Layer& layer : layers) {
      candidates_[layer.product] = layer.sum.has_value();
      join(layer);
    }
    for (const ValueId weight : turned_) turn(weight);
    return std::move(candidates_);
  }

 private:
  struct Sum {
    std::size_t node;
    ValueId bias;
  };
  struct Layer {
    std::size_t product;
    std::optional<Sum> sum;
    std::optional<ValueId> weight;  ///< As [out, in].
  };

  const TensorSpec* initializer(ValueId id, std::size_t rank) const {
    if (id == no_value || graph_.value(id).kind != ValueKind::constant) return nullptr;
    const auto& spec = graph_.value(id).spec;
    return spec && spec->sizes.size() == rank ? &*spec : nullptr;
  }

  /// The input of a same-module Transpose that produces a product's second factor; no_value if
  /// none.
  ValueId turned_by_node(const Node& product) const {
    const auto maker = uses_.maker(operand(product, 1));
    if (!maker) return no_value;
    const Node& node = graph_.nodes[*maker];
    const auto* order = argument_as<std::vector<std::int64_t>>(find_argument(node, "perm"));
    const bool turns = order != nullptr && *order == std::vector<std::int64_t>{1, 0};
    return node.op == "onnx::Transpose" && turns && node.scope == product.scope ? operand(node, 0)
                                                                                : no_value;
  }

  ValueId weight_of(const Node& product) const {
    const ValueId turned = turned_by_node(product);
    return turned == no_value ? operand(product, 1) : turned;
  }

  /// True for a product with the weight of a linear layer. The TorchScript-based exporter does not
  /// name calls, but it names a transposed weight "onnx::MatMul_12" and another weight by its path.
  bool is_product(std::size_t index) const {
    const Node& node = graph_.nodes[index];
    const ValueId weight = weight_of(node);
    if (node.op != "onnx::MatMul" || initializer(weight, 2) == nullptr) return false;
    if (!calls_[index].empty()) return is_call_of(calls_[index], "linear");
    const std::string& name = graph_.value(weight).name;
    if (weight == operand(node, 1)) return name.starts_with("onnx::MatMul_");
    return name == graph_.scopes[static_cast<std::size_t>(node.scope)].path + ".weight";
  }

  std::optional<Sum> bias_of(std::size_t index) const {
    const Node& product = graph_.nodes[index];
    const ValueId made = product.outputs.at(0);
    if (uses_.readers(made).size() != 1 || uses_.is_output(made)) return std::nullopt;
    const std::size_t reader = uses_.readers(made).front();
    const Node& sum = graph_.nodes[reader];
    if (sum.op != "onnx::Add" || calls_[reader] != calls_[index] || sum.scope != product.scope)
      return std::nullopt;
    const ValueId bias = operand(sum, operand(sum, 0) == made ? 1 : 0);
    const TensorSpec* spec = initializer(bias, 1);
    const bool turned = turned_by_node(product) != no_value;
    const auto& sizes = graph_.value(weight_of(product)).spec->sizes;
    if (spec == nullptr || spec->sizes[0] != sizes[turned ? 0 : 1]) return std::nullopt;
    return Sum{reader, bias};
  }

  /// A product's weight as [out, in]: another initializer, or its own transposed.
  std::optional<ValueId> own_layout(std::size_t product) const {
    if (const ValueId own = turned_by_node(graph_.nodes[product]); own != no_value) return own;
    const ValueId weight = operand(graph_.nodes[product], 1);
    const std::vector<std::int64_t>& sizes = graph_.value(weight).spec->sizes;
    if (const auto copy = named_.copies.find(weight); copy != named_.copies.end()) {
      const auto& own = graph_.value(copy->second).spec->sizes;
      if (own == std::vector{sizes[1], sizes[0]}) return copy->second;
      return std::nullopt;
    }
    const auto readers = uses_.readers(weight);
    const bool is_of_layers = std::ranges::all_of(readers, [&](std::size_t reader) {
      return is_product(reader) && operand(graph_.nodes[reader], 0) != weight;
    });
    if (!is_of_layers || uses_.is_output(weight)) return std::nullopt;
    return weight;
  }

  /// If other nodes also read the weight, a view of it is transposed.
  void join(const Layer& layer) {
    if (!layer.sum && !layer.weight) return;
    Node& product = graph_.nodes[layer.product];
    const ValueId read = operand(product, 1);
    const ValueId weight = layer.weight.value_or(product.outputs.front());
    if (weight == read) turned_.insert(read);
    if (const auto maker = uses_.maker(read)) candidates_[*maker] = true;
    std::vector<Argument> arguments{product.arguments[0], {"", ValueRef{weight}}};
    if (layer.sum) arguments.push_back({"", ValueRef{layer.sum->bias}});
    if (!layer.weight) become(product, "aten::t", {{"", ValueRef{read}}});
    become(layer.sum ? graph_.nodes[layer.sum->node] : product, "aten::linear",
           std::move(arguments));
  }

  static void become(Node& node, std::string_view op, std::vector<Argument> arguments) {
    node.op = op;
    node.overload = "default";
    node.arguments = std::move(arguments);
  }

  void turn(ValueId weight) {
    Value& value = graph_.value(weight);
    std::swap(value.spec->sizes[0], value.spec->sizes[1]);
    value.spec->strides = contiguous_strides(value.spec->sizes);
    value.constant = nullptr;
  }

  Graph& graph_;
  const std::vector<std::string>& calls_;
  const NamedParameters& named_;
  const Uses uses_;
  std::unordered_set<ValueId> turned_;
  std::vector<bool> candidates_;
};

}  // namespace

void join_linear(Graph& graph, std::vector<std::string>& calls, const NamedParameters& named) {
  erase_gone(calls, remove_unread(graph, LinearJoiner(graph, calls, named).run()));
}

}  // namespace symprof::trace
