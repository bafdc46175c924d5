// Notes on an export: its mode, and how the file's tensors map to weights.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/onnx/exported_call.h"
#include "trace/onnx/parameter_names.h"

namespace symprof::trace {

/// Finds the calls' export mode, and the extent of the metadata, for graph.export_record.
void find_export_mode(Graph& graph, const ExportedCalls& exported);

/// Adds warnings for merged parameters, for parameters of the signature `missing` in the file, and
/// for large unnamed tables that are not trained. The kinds of `initializers` must be set.
void note_parameters(Graph& graph, const Signature& signature,
                     const std::vector<ValueId>& initializers, const NamedParameters& named,
                     const std::vector<std::string>& missing);

}  // namespace symprof::trace
