// The text of onnx-array-api's onnx_simple_text_plot (pretty_onnx of onnx-diagnostic), to the
// letter.
//
// Public header.
#pragma once

#include <fmt/format.h>

#include "workbench/model.h"

namespace symprof::report {

/// Writes opsets, inputs, initializers, nodes, outputs, subgraphs and functions. Where that tool
/// names another type than the file's (initializers of eight and sixteen bits), the file's.
void write_pretty(fmt::memory_buffer& out, const onnx::ModelProto& model);

}  // namespace symprof::report
