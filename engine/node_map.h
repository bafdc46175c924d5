// The mapping between nodes of the model and layers of the engine, as plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace symprof::engine {

/// The evidence that a node belongs to a layer.
enum class Rule : std::uint8_t {
  mark,      ///< The layer's metadata names the node.
  name,      ///< The layer's name contains the node's name, or the name of a helper node that the
             ///< builder made for it.
  log,       ///< The build log says that the node was fused into a node that the layer names.
  flow,      ///< The node lies between the layer's outputs and its inputs.
  neighbor,  ///< A quantizer that no layer names, beside a node of the layer.
};

enum class Certainty : std::uint8_t { certain, likely };

struct Assignment {
  int layer = 0;
  Rule rule = Rule::mark;
  Certainty certainty = Certainty::certain;
};

/// How the engine implements a node.
enum class Mapping : std::uint8_t {
  kernel,   ///< The node is in a layer for which a kernel runs.
  view,     ///< The node only reshapes a tensor; no kernel runs for it.
  folded,   ///< The node depends on constants only: the builder computed it.
  sizes,    ///< The node computes sizes, on the host.
  unknown,  ///< No rule found a layer for the node.
};

struct NodeMapping {
  Mapping mapping = Mapping::unknown;
  std::vector<Assignment> layers;  ///< More than one if the node's work is split.
  std::string reason;              ///< For a node without a kernel: why, as part of a sentence.

  int first_layer() const { return layers.empty() ? -1 : layers.front().layer; }
  bool is_in(int layer) const {
    return std::ranges::find(layers, layer, &Assignment::layer) != layers.end();
  }
};

struct LayerNodes {
  std::vector<int> nodes;  ///< In the model's order.
  int owner = -1;          ///< For a reformat: the layer that it serves; -1: unknown.
  std::string region;      ///< The region of the engine whose kernel or reformat this layer is.
  int serves = -1;  ///< For a layer without nodes: the node whose result it produces or reads.

  /// True if it is known what the layer implements.
  bool is_resolved() const {
    return !nodes.empty() || owner >= 0 || !region.empty() || serves >= 0;
  }
};

struct NodeMap {
  std::vector<LayerNodes> layers;  ///< In the engine's order.
  std::vector<NodeMapping> nodes;  ///< In the model's order.
};

}  // namespace symprof::engine
