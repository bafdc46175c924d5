// Helpers shared by the operators of nested.h and higher_order.h.
#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

#include "shape/interpreter/run_body.h"

namespace symprof::shape {

/// The iteration limit of a loop; a loop that exceeds it is reported as endless.
constexpr std::int64_t most_iterations = 1'000'000;

/// True for a number, and for a real tensor of one element.
bool is_known(const c10::IValue& value);

/// Returns the number that a branch or loop depends on. Throws Error if it is unknown; the message
/// names it as `what`.
std::int64_t known_number(const c10::IValue& value, const char* what);

/// A real scalar tensor, also inside a fake mode.
at::Tensor on_host(std::int64_t number, at::ScalarType type);

/// The results of a loop's iterations, stacked. Throws Error if there are none: the shape is
/// unknown.
at::Tensor joined(const std::vector<at::Tensor>& parts, std::int64_t axis);

}  // namespace symprof::shape
