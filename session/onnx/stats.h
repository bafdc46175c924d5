// Counts of nodes, parameters and operators of an ONNX model.
#pragma once

#include <string>

#include "workbench/stats.h"

namespace symprof {

struct StatsAnswer {
  workbench::ModelStats stats;
  std::string warning;  ///< Why rules were not counted; empty: they were.
};

/// With the rules that would be applied to it and, where `with_tensors`, numbers of its weights.
StatsAnswer count_model(const std::string& path, bool with_tensors);

}  // namespace symprof
