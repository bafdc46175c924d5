// The text of onnx-array-api's onnx_simple_text_plot (pretty_onnx of onnx-diagnostic), to the
// letter.
#pragma once

#include <fmt/format.h>

#include "workbench/model.h"

namespace symprof::report {

/// Writes opsets, inputs, initializers, nodes, outputs, subgraphs and functions. Uses the file's
/// type where that tool names another one (initializers of eight and sixteen bits).
void write_pretty(fmt::memory_buffer& out, const onnx::ModelProto& model);

}  // namespace symprof::report
