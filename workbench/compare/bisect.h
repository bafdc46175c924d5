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
  int nodes = 0;  ///< Without Constants.
};

struct Bisected {
  BisectPart a, b;
  std::string result_a, result_b;  ///< What the parts compute.
  ValueDifference difference;      ///< Of these, with equal inputs.
  bool is_whole = false;           ///< No part alone differs: the parts are the models.
};

/// Makes what computes the values of a model, of the whole or of a part.
using RunnerMaker = std::function<ValueRunner(const Model& model, const std::string& path)>;

/// A side of the comparison, the model that it was made of, and what runs its parts.
struct BisectSide {
  const Side& side;
  const onnx::ModelProto& model;
  const ValueRunner& runner;
  const RunnerMaker& runner_of;
};

/// Two sides and their comparison, whose outputs do not agree.
struct BisectQuestion {
  BisectSide a, b;
  const Comparison& comparison;
};

/// Walks through the results that differ, in the order of A. The part of one is what lies between
/// it and the nearest values that are alike on both sides. The first part that differs when both
/// sides get A's values is the answer. Throws Error for models that cannot be cut or run.
Bisected bisect(const BisectQuestion& question);

}  // namespace symprof::workbench
