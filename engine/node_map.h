// Which nodes of the model are in which layers of the engine: plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace symprof::engine {

/// What says that a node is in a layer.
enum class Rule : std::uint8_t {
  mark,       ///< The layer's metadata names the node.
  name,       ///< The layer's name has the node's, or that of a helper made for it.
  log,        ///< The build log says that the node went into one that the layer names.
  flow,       ///< The node lies between the layer's outputs and its inputs.
  neighbour,  ///< A quantizer that no layer names, beside a node of the layer.
};

enum class Certainty : std::uint8_t { certain, likely };

struct Assignment {
  int layer = 0;
  Rule rule = Rule::mark;
  Certainty certainty = Certainty::certain;
};

/// What became of a node.
enum class Mapping : std::uint8_t {
  kernel,   ///< It is in a layer for which a kernel runs.
  view,     ///< It only gives a tensor another shape, and no kernel runs for it.
  folded,   ///< It follows from constants: the builder computed it.
  sizes,    ///< It computes sizes, on the host.
  unknown,  ///< No rule says where it went.
};

struct NodeMapping {
  Mapping mapping = Mapping::unknown;
  std::vector<Assignment> layers;  ///< More than one where its work was divided.
  std::string reason;              ///< Of a node without a kernel, a sentence's part.

  int first_layer() const { return layers.empty() ? -1 : layers.front().layer; }
  bool is_in(int layer) const {
    return std::ranges::find(layers, layer, &Assignment::layer) != layers.end();
  }
};

struct LayerNodes {
  std::vector<int> nodes;  ///< In the model's order.
  int owner = -1;          ///< Of a reformat: the layer that it is for, where that is there.
  std::string region;      ///< The region that it is a kernel of, or that it is a reformat for.
  int serves = -1;         ///< Of a layer without nodes: the node whose result it makes or takes.

  /// Whether the layer's place in the model is known.
  bool is_resolved() const {
    return !nodes.empty() || owner >= 0 || !region.empty() || serves >= 0;
  }
};

struct NodeMap {
  std::vector<LayerNodes> layers;  ///< In the engine's order.
  std::vector<NodeMapping> nodes;  ///< In the model's order.
};

}  // namespace symprof::engine
