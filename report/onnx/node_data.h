// Costs of nodes as Google's Model Explorer reads them.
#pragma once

#include <fmt/format.h>

#include <string>

#include "report/onnx/dot.h"

namespace symprof::report {

/// Node data, which Model Explorer shows as colours over the model's file
/// (model_explorer/node_data_builder.py): of `costs`, by the names that nodes have in a profile,
/// those of the main graph's nodes. A node that calls a function has the sum of what is in it.
/// Nodes without a name go by those that model-explorer-onnx 0.4.2 gives them.
void write_model_explorer(fmt::memory_buffer& out, const onnx::ModelProto& model,
                          const std::string& figure, const NodeCosts& costs);

}  // namespace symprof::report
