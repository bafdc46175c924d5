// What the reader says of an export: its mode, and which weights it made of the file's tensors.
#pragma once

#include <string>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/onnx/exported_call.h"
#include "trace/onnx/parameter_names.h"

namespace symprof::trace {

/// Finds in which mode the calls were exported, and how much the metadata has of them, for
/// graph.export_record.
void find_export_mode(Graph& graph, const ExportedCalls& exported);

/// Adds a warning for each of: parameters that were merged; parameters of the signature that are
/// `missing` in the file; tables without a name that are large and not trained. The kinds of
/// `initializers` are known.
void note_parameters(Graph& graph, const Signature& signature,
                     const std::vector<ValueId>& initializers, const NamedParameters& named,
                     const std::vector<std::string>& missing);

}  // namespace symprof::trace
