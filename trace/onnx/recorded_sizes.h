// What an ONNX file says about the results of its nodes.
#pragma once

#include <string>
#include <unordered_map>

#include "trace/graph/graph.h"

namespace onnx {
class GraphProto;
}

namespace symprof::trace {

/// Writes the dtypes and sizes of results to their values: they matter where an operator has no
/// rule. `values` has the values by their names in the file.
void note_sizes(const onnx::GraphProto& source,
                const std::unordered_map<std::string, ValueId>& values, Graph& graph);

}  // namespace symprof::trace
