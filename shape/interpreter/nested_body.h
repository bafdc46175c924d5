// Runs graphs inside nodes, for the operators of nested.h and higher_order.h.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <vector>

#include "shape/interpreter/interpreter.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// The iteration limit of a loop; more is taken as endless.
constexpr std::int64_t most_iterations = 1'000'000;

/// The outputs of `body` for `inputs`, one for each of its inputs. Throws Error for another number
/// of inputs, and for constants of the body without data.
std::vector<c10::IValue> run_body(const Graph& body, std::vector<c10::IValue> inputs,
                                  c10::Device device, const Recompute& recompute,
                                  Lifetimes lifetimes = Lifetimes::last_use);

/// True for a number, and for a real tensor of one element.
bool is_known(const c10::IValue& value);

/// The number that decides the control flow. Throws Error, which calls it `what`, if it is unknown.
std::int64_t known_number(const c10::IValue& value, const char* what);

/// A real scalar tensor, also inside a fake mode.
at::Tensor on_host(std::int64_t number, at::ScalarType type);

/// The results of a loop's iterations, stacked. Throws Error if there are none: the shape is
/// unknown.
at::Tensor joined(const std::vector<at::Tensor>& parts, std::int64_t axis);

}  // namespace symprof::shape
