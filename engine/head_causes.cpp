// Quantizers before pointwise operators not fed by a convolution or product: such an operator gains
// nothing from integers, and its Q has no kernel to fuse into.
#include <fmt/format.h>

#include <algorithm>

#include "engine/cause_list.h"

namespace symprof::engine {
namespace {

bool is_pointwise(const ModelNode& node) {
  return is_one_of(node, {"Add", "Sub",  "Mul",   "Div",  "Pow",  "Sqrt", "Erf",
                          "Exp", "Tanh", "Gelu",  "Relu", "Clip", "Neg",  "Sigmoid",
                          "Elu", "Min",  "PRelu", "Max",  "Log",  "Abs",  "LeakyRelu"});
}

/// Operators that fuse into a group that begins with a convolution or a product.
bool is_in_group(const ModelNode& node) {
  return is_pointwise(node) || is_view(node) || is_one_of(node, {"BatchNormalization", "Cast"});
}

class HeadCauses {
 public:
  HeadCauses(const EngineSummary& summary, const Model& model, const NodeMap& map,
             CauseList& causes, std::vector<bool>& explained)
      : summary_(summary), model_(model), map_(map), causes_(causes), explained_(explained) {}

  void add(int dequantizer) {
    const ModelNode& node = at(dequantizer);
    if (node.inputs.empty() || node.outputs.empty()) return;
    const int quantizer = producer(node.inputs.front());
    if (quantizer < 0 || !is_quantizer(at(quantizer)) || at(quantizer).inputs.empty()) return;
    const std::vector<int>& users =
        model_.consumers[static_cast<std::size_t>(node.outputs.front())];
    const int maker = producer(at(quantizer).inputs.front());
    // A model input must be quantized somewhere, and Q is fused into its producer.
    if (users.empty() || maker < 0 || is_fed(maker, 0) ||
        !std::ranges::all_of(users, [&](int user) { return is_head(user); }))
      return;
    for (const int each : {quantizer, dequantizer})
      if (const int layer = lone_layer(each); layer >= 0) {
        explained_[static_cast<std::size_t>(layer)] = true;
        const std::string& name = at(users.front()).name;
        causes_.add(Cause::pointwise_head, name, layer,
                    fmt::format("{} reads quantized numbers, and no convolution or product makes "
                                "what it reads",
                                name),
                    "Take Q and DQ off its inputs.");
      }
  }

 private:
  const ModelNode& at(int node) const { return model_.nodes[static_cast<std::size_t>(node)]; }
  int producer(ValueId value) const { return model_.producers[static_cast<std::size_t>(value)]; }

  /// True if `node` is in the group of a convolution or a product.
  bool is_fed(int node, int depth) const {
    constexpr int longest_group = 16;
    if (is_one_of(at(node), {"Conv", "ConvTranspose", "Gemm", "MatMul"})) return true;
    if (depth == longest_group || !is_in_group(at(node))) return false;
    return std::ranges::any_of(at(node).inputs, [&](ValueId value) {
      return producer(value) >= 0 && is_fed(producer(value), depth + 1);
    });
  }

  bool is_head(int node) const { return is_pointwise(at(node)) && !is_fed(node, 0); }

  /// The layer of a quantizer with a kernel of only quantizers; -1 if it has other nodes.
  int lone_layer(int quantizer) const {
    const int layer = map_.nodes[static_cast<std::size_t>(quantizer)].first_layer();
    if (layer < 0 || !summary_.layers[static_cast<std::size_t>(layer)].has_kernel) return -1;
    const bool is_lone = std::ranges::all_of(
        map_.layers[static_cast<std::size_t>(layer)].nodes,
        [&](int node) { return is_quantizer(at(node)) || is_dequantizer(at(node)); });
    return is_lone ? layer : -1;
  }

  const EngineSummary& summary_;
  const Model& model_;
  const NodeMap& map_;
  CauseList& causes_;
  std::vector<bool>& explained_;
};

}  // namespace

void add_head_causes(const EngineSummary& summary, const Model& model, const NodeMap& map,
                     CauseList& causes, std::vector<bool>& explained) {
  HeadCauses finder(summary, model, map, causes, explained);
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    if (is_dequantizer(model.nodes[i])) finder.add(static_cast<int>(i));
}

}  // namespace symprof::engine
