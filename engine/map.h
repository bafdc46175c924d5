// The mapping between model nodes and engine layers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/model.h"

namespace symprof::engine {

/// The evidence for a node being in a layer.
enum class Rule : std::uint8_t {
  mark,       ///< The layer's metadata names the node.
  name,       ///< The layer's name has the node's, or that of a helper made for it.
  log,        ///< According to the build log, the node was fused into one that the layer names.
  flow,       ///< The node lies between the layer's outputs and its inputs.
  neighbour,  ///< A quantizer that no layer names, beside a node of the layer.
};

enum class Certainty : std::uint8_t { certain, likely };

struct Assignment {
  int layer = 0;
  Rule rule = Rule::mark;
  Certainty certainty = Certainty::certain;
};

/// The result of mapping a node.
enum class Fate : std::uint8_t {
  kernel,   ///< It is in a layer with a kernel.
  view,     ///< It only reshapes a tensor; no kernel.
  folded,   ///< Constant-folded by the builder.
  sizes,    ///< It computes sizes, on the host.
  unknown,  ///< Unknown.
};

struct NodeFate {
  Fate fate = Fate::unknown;
  std::vector<Assignment> layers;  ///< More than one if its work was split.
  std::string reason;              ///< For a node without a kernel: a clause.

  int first_layer() const { return layers.empty() ? -1 : layers.front().layer; }
  bool is_in(int layer) const {
    return std::ranges::find(layers, layer, &Assignment::layer) != layers.end();
  }
};

struct LayerNodes {
  std::vector<int> nodes;  ///< In the model's order.
  int owner = -1;          ///< For a reformat: the layer that it serves, if any.
  std::string region;      ///< The region of its kernel, or that its reformat serves.
  int serves = -1;  ///< For a layer without nodes: the node whose result it produces or consumes.

  /// True if the layer's place in the model is known.
  bool is_resolved() const {
    return !nodes.empty() || owner >= 0 || !region.empty() || serves >= 0;
  }
};

struct NodeMap {
  std::vector<LayerNodes> layers;  ///< In the engine's order.
  std::vector<NodeFate> nodes;     ///< In the model's order.
};

NodeMap map_nodes(const Engine& engine, const Model& model);

/// "alone", "weights", "absorbed" or "duplicate" of a Q or DQ; empty of another node.
std::string_view quantizer_role(const Engine& engine, const Model& model, const NodeMap& map,
                                int node);

std::string_view name(Rule rule);
std::string_view name(Certainty certainty);
std::string_view name(Fate fate);

}  // namespace symprof::engine
