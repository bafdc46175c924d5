// Graphs inside nodes: how one of them runs, for the operators of nested.h and higher_order.h.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <vector>

#include "shape/interpreter/interpreter.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// The most iterations of a loop: more than one that ends takes.
constexpr std::int64_t most_iterations = 1'000'000;

/// What `body` gives for `inputs`, one for each of its inputs. Throws Error for another number of
/// them, and for constants of the body without data.
std::vector<c10::IValue> run_body(const Graph& body, std::vector<c10::IValue> inputs,
                                  c10::Device device, const Recompute& recompute,
                                  Lifetimes lifetimes = Lifetimes::last_use);

/// True for a number, and for a real tensor of one element.
bool is_known(const c10::IValue& value);

/// The number that decides how the graph goes on. Throws Error, which calls it `what`, when
/// it is not known.
std::int64_t known_number(const c10::IValue& value, const char* what);

/// A scalar whose value is known, inside a fake mode too.
at::Tensor on_host(std::int64_t number, at::ScalarType type);

/// What the runs of a loop gave, stacked. Throws Error when there was none: no shape is known then.
at::Tensor joined(const std::vector<at::Tensor>& parts, std::int64_t axis);

}  // namespace symprof::shape
