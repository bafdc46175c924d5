// Why an activation was not fused into the preceding convolution, from the model's nodes.
#include <fmt/format.h>

#include <algorithm>

#include "engine/cause_list.h"
#include "engine/names.h"

namespace symprof::engine {
namespace {

/// Operators that fuse into a convolution's group: partitioning.py and op_types.py of modelopt.
bool is_fusible(const ModelNode& node) {
  return is_one_of(node, {"BatchNormalization", "Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh",
                          "Elu", "HardSigmoid", "Add", "Mul", "Sub", "Div", "PRelu", "Softplus"});
}

/// Operators that end a convolution's group: the next node starts another group, which is no failed
/// fusion.
bool ends_group(const ModelNode& node) {
  return is_one_of(node, {"Relu", "Clip", "LeakyRelu", "Tanh", "Elu", "PRelu", "Softplus"});
}

bool is_convolution(const ModelNode& node) { return is_one_of(node, {"Conv", "ConvTranspose"}); }

/// Walks from a convolution along the nodes fused into its layer, to the first that was not.
class ActivationCauses {
 public:
  ActivationCauses(const Engine& engine, const EngineSummary& summary, const Model& model,
                   const NodeMap& map, CauseList& causes)
      : engine_(engine), summary_(summary), model_(model), map_(map), causes_(causes) {}

  void add(int convolution) {
    const int layer = layer_of(convolution);
    // Regions of generated kernels are grouped differently.
    if (layer < 0 ||
        split_kernel_number(engine_.layers[static_cast<std::size_t>(layer)].name).second)
      return;
    Path path{.convolution = convolution, .layer = layer};
    for (int node = convolution; node >= 0;) node = step(node, path);
  }

 private:
  struct Path {
    int convolution = 0, layer = 0;
    bool has_quantizers = false, has_cast = false;
  };

  const ModelNode& at(int node) const { return model_.nodes[static_cast<std::size_t>(node)]; }

  int layer_of(int node) const { return map_.nodes[static_cast<std::size_t>(node)].first_layer(); }

  bool is_in(int node, int layer) const {
    return map_.nodes[static_cast<std::size_t>(node)].is_in(layer);
  }

  /// The node after `node` in the same layer, or -1 at the chain's end; adds a cause if the chain
  /// ends at a node that should have been fused.
  int step(int node, Path& path) {
    if (at(node).outputs.empty() || ends_group(at(node))) return -1;
    const auto value = static_cast<std::size_t>(at(node).outputs.front());
    const std::vector<int>& users = model_.consumers[value];
    for (const int user : users) {
      if (is_quantizer(at(user)) || is_dequantizer(at(user))) {
        path.has_quantizers = true;
        return user;
      }
      if (at(user).op == "Cast") {
        path.has_cast = true;
        return user;
      }
      if (!is_fusible(at(user))) continue;
      if (is_in(user, path.layer)) return user;
      if (layer_of(user) < 0 || !runs_alone(layer_of(user))) return -1;
      // Sigmoid and Mul of one SiLU are two readers in one layer.
      const bool has_other_reader =
          std::ranges::any_of(users, [&](int other) { return !is_in(other, layer_of(user)); });
      explain(node, user, has_other_reader, model_.outputs[value], path);
      return -1;
    }
    return -1;
  }

  /// True if a kernel runs for the layer and none of its nodes is a convolution or a matrix
  /// product.
  bool runs_alone(int layer) const {
    const auto index = static_cast<std::size_t>(layer);
    return summary_.layers[index].has_kernel &&
           std::ranges::none_of(map_.layers[index].nodes, [&](int node) {
             return is_one_of(at(node), {"Conv", "ConvTranspose", "Gemm", "MatMul"});
           });
  }

  /// True if all inputs of `node` except the one from `before` are constants.
  bool has_constant_operands(int node, int before) const {
    return std::ranges::all_of(at(node).inputs, [&](ValueId id) {
      const auto index = static_cast<std::size_t>(id);
      return model_.constants[index] || model_.producers[index] == before;
    });
  }

  void explain(int before, int node, bool has_other_reader, bool is_output, const Path& path) {
    const std::string& name = at(node).name;
    const std::string& convolution = at(path.convolution).name;
    const auto add = [&](Cause::Kind kind, const std::string& what, const char* change) {
      causes_.add(kind, name, layer_of(node),
                  fmt::format("{} is not fused into {}: {}", name, convolution, what), change);
    };
    if (path.has_quantizers)
      add(Cause::chain, "Q and DQ stand between them",
          "Put them behind the activation, before the next convolution.");
    else if (path.has_cast)
      add(Cause::precision, "a Cast stands between them", "Let both run in one type.");
    else if (is_output)
      add(Cause::graph_output,
          fmt::format("the result of {} is an output of the model", at(before).name),
          "Give back the activation's result, or compute the other once more.");
    else if (has_other_reader)
      add(Cause::second_reader, fmt::format("others read the result of {}, too", at(before).name),
          "Let them read the activation's result.");
    else if (!has_constant_operands(node, before))
      add(Cause::operand, "its other operand is no constant, and it was not taken for a residual",
          "");
    else
      add(Cause::unknown,
          "neither the engine nor the model tells why; TensorRT may have no kernel for the pair",
          "");
  }

  const Engine& engine_;
  const EngineSummary& summary_;
  const Model& model_;
  const NodeMap& map_;
  CauseList& causes_;
};

}  // namespace

void add_activation_causes(const Engine& engine, const EngineSummary& summary, const Model& model,
                           const NodeMap& map, CauseList& causes) {
  ActivationCauses finder(engine, summary, model, map, causes);
  for (std::size_t i = 0; i < model.nodes.size(); ++i)
    if (is_convolution(model.nodes[i])) finder.add(static_cast<int>(i));
}

}  // namespace symprof::engine
