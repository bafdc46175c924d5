// Two models side by side: their values, their nodes, and the smallest part that differs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workbench/compare/bisect.h"
#include "workbench/compare/compare.h"

namespace symprof {

/// Two models, their backends and their inputs.
struct ModelPair {
  std::string a, b;
  std::vector<std::string> inputs;  ///< "NAME=FILE.npy" and "FILE.npz".
  std::vector<std::string> sizes, shapes;
  std::string functions = "keep", backend = "torch";
  std::uint64_t seed = 0;
  bool random_weights = false;
};

struct CompareQuestion {
  ModelPair models;
  bool runs = true;  ///< False: rows are nodes, and no model runs.
  workbench::AlignBy align = workbench::AlignBy::best;
  std::optional<double> tolerance;
};

struct CompareAnswer {
  std::string a, b;                  ///< The files.
  std::string backend_a, backend_b;  ///< "torch", "onnxruntime 1.32.0"; empty where nothing ran.
  std::string inputs;                ///< "x float32[2, 3]"; empty where nothing ran.
  bool has_run = false;
  workbench::Comparison comparison;
};

/// Inlines the ONNX functions that `functions` chooses. An ONNX model runs as written, or for
/// inference where the other model has another format; models of other formats are prepared for
/// inference. Throws Error (not_available) for a missing backend.
CompareAnswer compare_models(const CompareQuestion& question);

struct BisectAnswer {
  double tolerance = 0;
  std::optional<workbench::Bisected> found;  ///< Empty where outputs agree.
};

/// ONNX models only.
BisectAnswer bisect_models(const ModelPair& models, std::optional<double> tolerance);

}  // namespace symprof
