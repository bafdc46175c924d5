// Modules put back as local functions.
//
// Public header.
#pragma once

#include <string>
#include <vector>

#include "workbench/model.h"

namespace symprof::workbench {

struct PartitionReport {
  int calls = 0;                  ///< Modules that became calls.
  int functions = 0;              ///< Distinct bodies.
  std::vector<std::string> left;  ///< Modules that stayed, and why.
};

/// Makes a call of a local function of each module whose path a glob of `modules` matches, by the
/// metadata of the nodes; the outermost where one lies in another. Without globs: the elements of
/// lists ("layers.0"), outermost. Constants that several parts read are copied into each, so that
/// equal modules have equal bodies and share one function, called as their class (Class_2, …, where
/// bodies differ). Weights become inputs of the function. A module whose nodes depend on one
/// another through nodes outside stays as it is.
PartitionReport partition(onnx::ModelProto& model, const std::vector<std::string>& modules);

}  // namespace symprof::workbench
