// Calls of modules and nodes in a graph, with their inputs and outputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::workbench {

struct Call {
  std::string name;            ///< The module's path, "" for the whole graph; or the node's name.
  std::int64_t iteration = 0;  ///< Within a run: calls of one module are numbered from 0.
  bool is_node = false;
  std::vector<std::size_t> nodes;  ///< In the graph's order.
  /// Of a module: values that depend on the graph's inputs and are computed outside and read
  /// inside, in the order of reading. Of a node: its operands, weights included; no_value for an
  /// omitted one.
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  ///< Values read outside, or outputs of the graph.
  std::vector<ValueId> weights;  ///< Parameters, buffers and constants that are read inside.
};

struct CallChoice {
  /// `*` stands for one component of a path, "" for the whole graph
  /// (trace/graph/module_patterns.h).
  std::vector<std::string> modules;
  std::vector<std::string> nodes;  ///< Names, with *, ? and [..].
};

/// The calls that match the patterns, modules first. Throws Error for a pattern without a match.
std::vector<Call> calls_of(const Graph& graph, const CallChoice& choice);

/// All calls of modules and of nodes.
std::vector<Call> all_calls(const Graph& graph);

/// The subgraph that computes `wanted` from `given` and leaves: a graph with the same values and
/// only the nodes needed.
Graph part_of(const Graph& graph, const std::vector<ValueId>& given,
              const std::vector<ValueId>& wanted);

}  // namespace symprof::workbench
