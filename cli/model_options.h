// The options that say which model runs and how: those of every command that runs one.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profile/memory/step_memory.h"
#include "record/step_options.h"
#include "report/step_options.h"
#include "trace/passes/bind_inputs.h"

namespace symprof::cli {

/// What was typed; empty strings where an option was not given.
struct ModelText {
  std::string model;
  std::vector<std::string> inputs, bindings, checkpoint, offload_saved, freeze;
  std::string mode, loss = "ones", optimizer = "none", autocast, dtype, attention = "auto";
  std::string lifetimes = "frames";
  std::string unbacked = "refuse";
  std::string kv_cache;
  std::string alloc_conf, micro_batches, context;
  std::string device = "h200";
  bool split_bias = false, clip_grad_norm = false, grad_scaler = false, master_weights = false;
};

struct ModelOptions {
  std::string model;
  std::vector<trace::InputOverride> inputs;
  std::vector<std::pair<std::string, std::int64_t>> bindings;
  std::optional<Mode> mode;  ///< Empty: train where the model has parameters to train.
  std::optional<DType> dtype;
  StepOptions step;
  profile::LoopOptions loop;
  std::optional<std::int64_t> context_bytes;  ///< By --context; in `step.device` as well.
  report::RunOptions asked;                   ///< The same, as a report repeats it.
};

void add_model_options(CLI::App& app, ModelText& text);

/// Throws Error for the first value that is not one.
ModelOptions parse_model_options(const ModelText& text);

/// Throws Error when there is no model file. Apart from the rest, so that wrong options are said
/// first.
void take_model_file(const ModelText& text, ModelOptions& options);

}  // namespace symprof::cli
