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

struct CompareQuestion : ModelPair {
  std::string mode = "values";  ///< Or "nodes": rows are nodes, and nothing runs.
  std::string align = "best";   ///< Or "edit".
  std::optional<double> tolerance;
};

struct CompareAnswer {
  std::string a, b;                  ///< The files.
  std::string backend_a, backend_b;  ///< "torch", "onnxruntime 1.32.0"; empty where nothing ran.
  std::string inputs;                ///< "x float32[2, 3]"; empty where nothing ran.
  bool has_run = false;
  workbench::Comparison comparison;

  bool is_good() const { return !has_run || comparison.outputs_agree(); }
};

/// Inlines the ONNX functions that `functions` chooses. An ONNX model runs as written, or for
/// inference where the other model has another format; models of other formats are prepared for
/// inference. Throws Error (not_available) for a missing backend.
CompareAnswer compare_models(const CompareQuestion& question);

struct BisectQuestion : ModelPair {
  BisectQuestion() { functions = "inline"; }
  std::optional<double> tolerance;
};

struct BisectAnswer {
  double tolerance = 0;
  std::optional<workbench::Bisected> found;  ///< Empty where outputs agree.
};

/// Of ONNX models alone.
BisectAnswer bisect_models(const BisectQuestion& question);

/// The files of a side, 'a' or 'b': PREFIX.a.onnx, PREFIX.a.npz.
std::string model_of_part(const std::string& prefix, char side);
std::string inputs_of_part(const std::string& prefix, char side);
/// Writes the parts and their inputs. Throws Error.
void write_parts(const workbench::Bisected& found, const ModelPair& models,
                 const std::string& prefix);

}  // namespace symprof
