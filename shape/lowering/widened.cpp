#include "shape/lowering/widened.h"

#include <ATen/ATen.h>

#include <optional>
#include <string_view>

#include "shape/lowering/operands.h"

namespace symprof::lowering {
namespace {

bool is_wide_unsigned(const at::Tensor& tensor) {
  const at::ScalarType type = tensor.scalar_type();
  return type == at::kUInt16 || type == at::kUInt32 || type == at::kUInt64;
}

/// True for results that are indices: they stay int64.
bool is_place(const OnnxCall& call, std::size_t output) {
  const std::string_view op = call.node.op;
  return op == "onnx::ArgMax" || op == "onnx::ArgMin" || (output > 0 && op != "onnx::Split");
}

}  // namespace

Tensors run_widened(const Lowering& lowering, OnnxCall& call) {
  const Tensors given = call.inputs;
  try {
    return lowering.run(call);
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    if (text.find("not implemented for 'UInt") == text.npos) throw;
  }
  std::optional<at::ScalarType> type;
  call.inputs = given;
  for (at::Tensor& input : call.inputs) {
    if (!is_real(input) || !is_wide_unsigned(input)) continue;
    type = input.scalar_type();
    input = input.to(at::kLong);
  }
  Tensors results = lowering.run(call);
  for (std::size_t i = 0; type && i < results.size(); ++i)
    if (results[i].scalar_type() == at::kLong && !is_place(call, i))
      results[i] = results[i].to(*type);
  return results;
}

}  // namespace symprof::lowering
