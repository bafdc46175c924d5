#include "shape/interpreter/nested_body.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/values_setting.h"
#include "shape/lowering/operands.h"
#include "shape/lowering/real_tensor.h"

namespace symprof::shape {

using c10::IValue;

bool is_known(const IValue& value) {
  if (!value.isTensor()) return value.isScalar();
  return value.toTensor().numel() == 1 && lowering::values_of(value.toTensor()).defined();
}

std::int64_t known_number(const IValue& value, const char* what) {
  if (!is_known(value))
    throw Error(
        "", fmt::format("data-dependent control flow: {} is not known before the model runs", what),
        "Give the values of the input that it follows from with " + values_setting() +
            ", or export the model so that it follows from the shapes of its inputs.");
  if (value.isScalar()) return value.toScalar().to<std::int64_t>();
  return lowering::values_of(value.toTensor()).to(at::kLong).item<std::int64_t>();
}

at::Tensor on_host(std::int64_t number, at::ScalarType type) {
  return lowering::host_integers({number}).reshape({}).to(at::kCPU, type);
}

at::Tensor joined(const std::vector<at::Tensor>& parts, std::int64_t axis) {
  if (!parts.empty()) return at::stack(parts, axis);
  throw Error("", "a loop that never runs: the shape of what it collects is not known",
              "Give inputs for which it runs.");
}

}  // namespace symprof::shape
