// Shared code of commands that write models.
#pragma once

#include <string>

#include "cli/output.h"
#include "workbench/model.h"

namespace symprof::cli {

/// Writes the model, read from `source`, to the file of `options`, complete or not at all, and
/// makes external data readable beside it. Throws Error without -o.
void write_model(const OutputOptions& options, const workbench::Model& model,
                 const std::string& source);

}  // namespace symprof::cli
