// Calls of modules and nodes in a graph: which values go in and out.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::workbench {

struct Call {
  std::string name;            ///< The module's path, "" for the whole graph; or the node's name.
  std::int64_t iteration = 0;  ///< Of one run: calls of one module count from 0.
  bool is_node = false;
  std::vector<std::size_t> nodes;  ///< In the graph's order.
  /// Of a module: what nodes outside make of the graph's inputs and nodes inside read, in the order
  /// in which they do. Of a node: its operands, weights too; no_value where one is left out.
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  ///< What is read outside, or is an output of the graph.
  std::vector<ValueId> weights;  ///< Parameters, buffers and constants that are read inside.
};

struct CallChoice {
  /// `*` stands for one component of a path, "" for the whole graph
  /// (trace/graph/module_patterns.h).
  std::vector<std::string> modules;
  std::vector<std::string> nodes;  ///< Names, with *, ? and [..].
};

/// Calls of what the patterns match, modules first. Throws Error for a pattern that matches
/// nothing.
std::vector<Call> calls_of(const Graph& graph, const CallChoice& choice);

/// All calls of modules and of nodes.
std::vector<Call> all_calls(const Graph& graph);

/// What computes `wanted` of `given` and of leaves: a graph with the same values, of the nodes that
/// this needs.
Graph part_of(const Graph& graph, const std::vector<ValueId>& given,
              const std::vector<ValueId>& wanted);

}  // namespace symprof::workbench
