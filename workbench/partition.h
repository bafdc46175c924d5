// Restores modules as local functions.
#pragma once

#include <string>
#include <vector>

#include "workbench/model.h"

namespace symprof::workbench {

struct PartitionReport {
  int calls = 0;                  ///< Modules that became calls.
  int functions = 0;              ///< Distinct bodies.
  std::vector<std::string> left;  ///< Modules that were not replaced, and why.
};

/// Replaces each module whose path matches a glob of `modules`, by the nodes' metadata, with a call
/// of a local function; the outermost of nested ones. Without globs: the elements of lists
/// ("layers.0"), outermost. Constants that several parts read are copied into each, so that equal
/// modules have equal bodies and share one function, named like their class (Class_2, …, where
/// bodies differ). Weights become inputs of the function. A module whose nodes depend on one
/// another through outside nodes is left unchanged.
PartitionReport partition(onnx::ModelProto& model, const std::vector<std::string>& modules);

}  // namespace symprof::workbench
