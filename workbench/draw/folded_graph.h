// A model's graph as boxes and arrows: modules as clusters, repeated blocks drawn once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workbench/model.h"

namespace symprof::workbench {

struct Box {
  enum class Kind : std::uint8_t { node, input, output, shared } kind = Kind::node;
  std::string label;  ///< The operator, or the name of an input or output.
  std::string note;   ///< Small constants, weights, attributes.
  std::string name;   ///< The node's name in a profile.
  int cluster = 0;    ///< Index into FoldedGraph::clusters.
  /// Only where FoldOptions::has_details: "perm = [0, 1]", "x: float32[2,3]".
  std::vector<std::string> attributes = {}, inputs = {}, outputs = {};
};

struct Arrow {
  int from = 0, to = 0;
  std::string type;      ///< "float32[2,8,16]".
  bool to_next = false;  ///< From one copy of a block to the next.
};

struct Cluster {
  std::string label;
  int parent = 0;  ///< 0, the first of all, is the whole graph.
  int times = 1;   ///< Copies of the repeated block that the box stands for.
};

struct FoldedGraph {
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
  std::vector<Cluster> clusters;
  int nodes = 0;  ///< The number of nodes that the boxes stand for.
};

struct FoldOptions {
  bool folds = true;        ///< Repeated blocks are drawn once.
  bool has_modules = true;  ///< Clusters for modules.
  bool has_details = false;
};

/// The main graph of `model`, functions inlined, with the bodies of If, Loop and Scan as clusters:
/// arrows lead from a body's output to the node that contains the body. If blocks are not folded
/// and nodes have no modules, each copy of a block is a cluster. A value that several modules read,
/// as a mask, is drawn in each of them, so that no arrow crosses the whole drawing. Throws Error
/// for functions that cannot be inlined.
FoldedGraph folded_graph(const onnx::ModelProto& model, const FoldOptions& options,
                         const std::string& path);

}  // namespace symprof::workbench
