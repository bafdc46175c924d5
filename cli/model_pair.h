// The options of commands that run two models.
#pragma once

#include <CLI/App.hpp>

#include "session/onnx/compare.h"

namespace symprof::cli {

void add_model_pair(CLI::App& app, ModelPair& models);

}  // namespace symprof::cli
