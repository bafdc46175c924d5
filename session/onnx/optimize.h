// A simpler ONNX model, what each rule did, and whether its values are the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/onnx/savings.h"
#include "session/settings.h"
#include "workbench/model.h"
#include "workbench/optimize/optimize.h"
#include "workbench/verify.h"

namespace symprof {

struct OptimizeQuestion {
  std::string model;
  workbench::OptimizeOptions rules;
  Settings settings;      ///< Sizes, of runs that compare values and of profiles.
  bool verifies = false;  ///< Both models run on the same random inputs.
  bool has_savings = false;
  std::optional<double> tolerance;
  std::uint64_t seed = 0;
};

/// The inputs of both models, and the outputs that differ.
struct VerifiedValues {
  std::string inputs;
  double tolerance = 0;
  std::vector<workbench::OutputDifference> differences;
  std::string broken_by;  ///< The first rule after which values differ too much.

  bool are_good() const;
};

struct OptimizeAnswer {
  std::string model;
  workbench::Model optimized;
  workbench::OptimizeReport report;
  std::optional<Savings> savings;
  std::optional<VerifiedValues> values;  ///< Empty if not requested.

  bool is_good() const { return !values || values->are_good(); }
};

/// Throws Error as workbench::optimize and workbench::Verifier do.
OptimizeAnswer optimize_model(const OptimizeQuestion& question);

}  // namespace symprof
