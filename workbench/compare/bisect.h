// The smallest part of two models whose values still differ.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "workbench/compare/compare.h"
#include "workbench/compare/difference.h"

namespace symprof::workbench {

/// A part of one of the models, and the values of its inputs.
struct BisectPart {
  Model model;
  ValueRunner::Leaves inputs;
  int nodes = 0;  ///< Excluding Constants.
};

struct Bisected {
  BisectPart a, b;
  std::string result_a, result_b;  ///< The value that each part computes.
  ValueDifference difference;      ///< The difference of these values on equal inputs.
  bool is_whole = false;           ///< True: no single part differs, so the parts are the models.
};

/// Creates a runner for a model, whole or a part.
using RunnerMaker = std::function<ValueRunner(const Model& model, const std::string& path)>;

/// A side of the comparison with its model and the maker of runners for its parts.
struct BisectSide {
  const Side& side;
  const onnx::ModelProto& model;
  const ValueRunner& runner;
  const RunnerMaker& runner_of;
};

/// Two sides and their comparison, whose outputs differ.
struct BisectQuestion {
  BisectSide a, b;
  const Comparison& comparison;
};

/// Checks the differing results in the order of A. The part of a result lies between it and the
/// nearest values that are equal on both sides. Returns the first part that differs when both sides
/// get A's values. Throws Error for models that cannot be cut or run.
Bisected bisect(const BisectQuestion& question);

}  // namespace symprof::workbench
