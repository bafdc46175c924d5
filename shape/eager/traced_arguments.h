// Arguments of a traced call as the values that LibTorch's dispatcher takes.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

#include "record/operator_call.h"

namespace symprof::shape {

/// The argument list of `schema`, with tensors without storage; empty if the call is of another
/// overload, or the trace does not tell what the schema wants. Call under a fake mode.
std::optional<std::vector<c10::IValue>> traced_arguments(const OperatorCall& call,
                                                         const c10::FunctionSchema& schema);

}  // namespace symprof::shape
