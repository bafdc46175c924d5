// Runs a nested graph. Declared apart from the interpreter, which calls the callers of this.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <vector>

#include "record/lifetimes.h"
#include "shape/interpreter/recompute.h"
#include "trace/graph/graph.h"

namespace symprof::shape {

/// The outputs of `body` for `inputs`, one for each of its inputs. Throws Error for another number
/// of inputs, and for a constant of the body without data.
std::vector<c10::IValue> run_body(const Graph& body, std::vector<c10::IValue> inputs,
                                  c10::Device device, const Recompute& recompute,
                                  Lifetimes lifetimes = Lifetimes::last_use);

}  // namespace symprof::shape
