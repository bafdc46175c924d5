// Reads one `Graph` of the export schema: inputs, nodes and their tensors.
#pragma once

#include <string_view>
#include <unordered_map>

#include "trace/exported/arguments.h"
#include "trace/exported/json.h"
#include "trace/graph/graph.h"

namespace symprof::trace::exported {

/// A graph and the names that the file uses for its values; the names are views into the record.
struct ReadGraph {
  Graph graph;
  std::unordered_map<std::string_view, ValueId> names;

  /// Throws Error when nothing has that name.
  ValueId value(std::string_view name, const Place& place) const;
};

/// Reads inputs, nodes and specs. All inputs are of kind `input` and in Graph::inputs, in order;
/// numbers, None and objects among them have no name, because the exporter inlined them into nodes.
/// Outputs are not read: the main graph's are in its signature.
ReadGraph read_graph(Json graph, const Place& place);

/// The value that an argument names; empty for a constant, an object or None.
std::optional<ValueId> named_value(const ReadGraph& read, Json argument, const Place& place);

}  // namespace symprof::trace::exported
