#include "trace/onnx/lowering/saturate.h"

#include <ATen/ATen.h>

#include <limits>

namespace symprof::trace::onnx {
namespace {

/// Largest finite numbers: c10/util/Float8_*.h.
double largest(at::ScalarType type) {
  switch (type) {
    case at::kFloat8_e4m3fn:
      return 448;
    case at::kFloat8_e4m3fnuz:
      return 240;
    default:
      return 57344;
  }
}

/// The integers of `type` as bounds of a float32 clamp.
std::pair<double, double> bounds(at::ScalarType type) {
  switch (type) {
    case at::kByte:
      return {0, 255};
    case at::kChar:
      return {-128, 127};
    case at::kUInt16:
      return {0, 65535};
    case at::kShort:
      return {-32768, 32767};
    default:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  }
}

}  // namespace

bool is_float8(at::ScalarType type) {
  return type == at::kFloat8_e4m3fn || type == at::kFloat8_e4m3fnuz || type == at::kFloat8_e5m2 ||
         type == at::kFloat8_e5m2fnuz;
}

at::Tensor to_saturated(const at::Tensor& x, at::ScalarType type, Saturation saturation) {
  const auto convert = [&](const at::Tensor& y) { return y.to(y.device(), type); };
  if (!is_float8(type)) {
    const auto [low, high] = bounds(type);
    return convert(at::clamp(x, low, high));
  }
  if (saturation == Saturation::on) return convert(at::clamp(x, -largest(type), largest(type)));
  // PyTorch's own conversion overflows to infinity or to not-a-number as the format has it.
  return convert(x);
}

}  // namespace symprof::trace::onnx
