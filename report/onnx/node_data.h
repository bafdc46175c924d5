// Costs of nodes for Google's Model Explorer.
#pragma once

#include <fmt/format.h>

#include <string>

#include "report/onnx/dot.h"

namespace symprof::report {

/// Node data, which Model Explorer shows as colors over the model's file
/// (model_explorer/node_data_builder.py): `costs` of the main graph's nodes, by their names in a
/// profile. A node that calls a function has the sum of the function's nodes. Nodes without a name
/// use those of model-explorer-onnx 0.4.2.
void write_model_explorer(fmt::memory_buffer& out, const onnx::ModelProto& model,
                          const std::string& figure, const NodeCosts& costs);

}  // namespace symprof::report
