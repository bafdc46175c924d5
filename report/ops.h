// The operators that have a cost rule, with what their figures are worth.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "profile/cost/flops/families.h"
#include "report/layout.h"

namespace symprof::report {

void write_ops(fmt::memory_buffer& out, const std::vector<profile::OperatorInfo>& ops,
               const Layout& layout);
/// Schema symprof.ops/1.
void write_ops_json(fmt::memory_buffer& out, const std::vector<profile::OperatorInfo>& ops);

/// The ONNX operators that can be lowered to ATen calls ("onnx::Conv"), one a line.
void write_onnx_ops(fmt::memory_buffer& out, const std::vector<std::string>& ops);
/// Schema symprof.onnx_ops/1.
void write_onnx_ops_json(fmt::memory_buffer& out, const std::vector<std::string>& ops);

}  // namespace symprof::report
