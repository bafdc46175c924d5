// Which parameter of the model an initializer stands for, by the calls that read it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "trace/graph/graph.h"
#include "trace/onnx/exported_call.h"
#include "trace/onnx/initializers.h"

namespace symprof::trace {

/// What name_parameters found.
struct NamedParameters {
  /// Parameters that an equal one stood for in the file.
  std::vector<std::string> merged;
  /// Initializers that are another layout of a parameter which the file has too.
  std::unordered_map<ValueId, ValueId> copies;
  /// Parameters that a call takes and no initializer stands for.
  std::vector<std::string> lost;
};

/// The dynamo exporter folds a transposition into a weight and calls it "val_12", lets one
/// initializer stand for several that are equal, and drops a bias of zeros. Its metadata names the
/// parameters that each call takes: initializers get those names back, and what was merged or
/// dropped is an initializer of its own again, added to `initializers`. `calls` has the name of the
/// exported call of each node; `exported` the calls.
NamedParameters name_parameters(Graph& graph, const std::vector<std::string>& calls,
                                const ExportedCalls& exported, const Signature& signature,
                                std::vector<ValueId>& initializers);

/// The parameters in the signature that no initializer stands for, but for those of norms that the
/// exporter folded (graph.export_record).
std::vector<std::string> missing_parameters(const Graph& graph, const Signature& signature,
                                            const std::vector<ValueId>& initializers);

}  // namespace symprof::trace
