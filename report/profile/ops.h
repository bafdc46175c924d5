// The operators with a cost rule, and the confidence of their figures.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <vector>

#include "profile/operators/operators.h"
#include "report/write/layout.h"

namespace symprof::report {

void write_ops(fmt::memory_buffer& out, std::span<const profile::Operator> ops,
               const Layout& layout);
/// Schema symprof.ops/1.
void write_ops_json(fmt::memory_buffer& out, std::span<const profile::Operator> ops);

/// The ONNX operators that can be lowered to ATen calls ("onnx::Conv"), one a line.
void write_onnx_ops(fmt::memory_buffer& out, const std::vector<std::string>& ops);
/// Schema symprof.onnx_ops/1.
void write_onnx_ops_json(fmt::memory_buffer& out, const std::vector<std::string>& ops);

}  // namespace symprof::report
