// Maps initializers to the model's parameters, by the calls that use them.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/onnx/exported_call.h"
#include "trace/onnx/initializers.h"

namespace symprof::trace {

/// Results of name_parameters.
struct NamedParameters {
  /// Parameters merged with an equal one in the file.
  std::vector<std::string> merged;
  /// Initializers that are another layout of a parameter also in the file.
  std::unordered_map<ValueId, ValueId> copies;
  /// Parameters used by a call but without an initializer.
  std::vector<std::string> lost;
};

/// The dynamo exporter folds a transposition into a weight named "val_12", merges equal
/// initializers, and drops zero biases. Its metadata names each call's parameters: restores these
/// names, and restores merged or dropped parameters as initializers (added to `initializers`).
/// `calls`: the exported call of each node; `exported`: the calls.
NamedParameters name_parameters(Graph& graph, const std::vector<std::string>& calls,
                                const ExportedCalls& exported, const Signature& signature,
                                std::vector<ValueId>& initializers);

/// Parameters in the signature without an initializer, except those of folded norms
/// (graph.export_record).
std::vector<std::string> missing_parameters(const Graph& graph, const Signature& signature,
                                            const std::vector<ValueId>& initializers);

}  // namespace symprof::trace
