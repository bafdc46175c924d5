// Element-wise operators composed of several kernels.
#include "profile/cost/scratch/families.h"

namespace symprof::profile {
namespace {

/// Scalar to the power of a tensor: the scalar first becomes a double or int64 tensor (pow in
/// aten/src/ATen/native/Pow.cpp).
Scratch power(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t number_bytes = 8;
  if (call.input_at(0) != nullptr) return {};
  return {.blocks = {number_bytes}};
}

/// abs(self) is compared with infinity (isinf in aten/src/ATen/native/TensorCompare.cpp).
Scratch is_infinite(const Call& call, const DeviceSpec&) {
  Scratch result;
  if (const TensorSpec* self = call.input(0); self != nullptr && is_floating_point(self->dtype))
    result.take(self->bytes());
  result.make_outputs();
  return result;
}

/// ldexp(self, other): 2 to the power of `other`. The 2 becomes a scalar tensor of the same
/// precision before pow, or of double precision inside it (ldexp in
/// aten/src/ATen/native/BinaryOps.cpp).
Scratch load_exponent(const Call& call, const DeviceSpec&) {
  const TensorSpec* other = call.input_at(1);
  const TensorSpec *self = call.input_at(0), *output = call.output(0);
  if (self == nullptr || other == nullptr || output == nullptr) return {.is_incomplete = true};
  if (!is_floating_point(other->dtype)) return {.is_incomplete = self->sizes != output->sizes};
  Scratch result;
  if (other->dtype != DType::float32) {
    const std::size_t two = result.take(element_bytes(other->dtype));
    result.take(other->bytes());
    result.give_back(two);
  } else {
    result.take(other->bytes());
    result.give_back(result.take(element_bytes(DType::float64)));
  }
  result.make_outputs();
  return result;
}

constexpr ScratchRule elementwise_rows[] = {
    {"aten::pow", power},
    {"aten::isinf", is_infinite},
    {"aten::ldexp", load_exponent},
    // The result is needed on the host, which a profile does not have.
    {"aten::equal", unknown_scratch},
};

}  // namespace

ScratchRules elementwise_scratch() { return elementwise_rows; }

}  // namespace symprof::profile
