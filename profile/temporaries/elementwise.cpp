// Elementwise operators that are made of several.
#include "profile/temporaries/temporaries.h"

namespace symprof::profile {
namespace {

/// A number to the power of a tensor: the number becomes a tensor of double or int64 first (pow in
/// aten/src/ATen/native/Pow.cpp).
Temporaries power(const Call& call, const DeviceSpec&) {
  constexpr std::int64_t number_bytes = 8;
  if (call.input_at(0) != nullptr) return {};
  return {.blocks = {number_bytes}};
}

/// The magnitude is compared (isinf in aten/src/ATen/native/TensorCompare.cpp).
Temporaries is_infinite(const Call& call, const DeviceSpec&) {
  Temporaries result;
  if (const TensorSpec* self = call.input(0); self != nullptr && is_floating_point(self->dtype))
    result.take(self->bytes());
  result.make_outputs();
  return result;
}

constexpr TemporariesRule rows[] = {
    {"aten::pow", power},
    {"aten::isinf", is_infinite},
};

}  // namespace

TemporariesRules elementwise_temporaries() { return rows; }

}  // namespace symprof::profile
