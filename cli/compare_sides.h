// The two models of a comparison, opened and given the same inputs.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/value_runner.h"
#include "workbench/compare/bisect.h"
#include "workbench/compare/compare.h"

namespace symprof::cli {

/// What the commands that compare two models are told of them and of what runs them.
struct CompareModels {
  std::string a, b;
  std::vector<std::string> inputs, sizes, shapes;
  std::string functions = "keep", backend = "torch";
  std::uint64_t seed = 0;
  bool random_weights = false;
};

void add_compare_models(CLI::App& app, CompareModels& models);

/// One of the models, and what computes its values.
struct OpenedSide {
  workbench::Side side;
  workbench::Model model;  ///< With its functions opened; null of another format.
  workbench::ValueRunner runner;
  workbench::RunnerMaker runner_of;  ///< The same of parts of the model.
  std::string backend;               ///< "torch", "onnxruntime 1.32.0".
};

/// Both models, with their rows: ONNX with the functions opened that `functions` chooses, as it is
/// written, or for inference where the other model has another format; those are prepared for
/// inference. Each is run by its backend; `torch` is LibTorch's runner. Throws Error
/// (not_available) for a backend that is not here.
std::pair<OpenedSide, OpenedSide> open_sides(const CompareModels& models,
                                             const workbench::ValueRunner& torch);

/// Values of inputs that "NAME=FILE.npy" and "FILE.npz" name.
workbench::ValueRunner::Leaves read_inputs(const std::vector<std::string>& texts);

/// Gives both sides inputs and weights.
void give_inputs(workbench::Side& a, workbench::Side& b, const CompareModels& models,
                 const workbench::ValueRunner& runner);

}  // namespace symprof::cli
