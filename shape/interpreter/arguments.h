// Arguments of a graph node as the values that LibTorch's dispatcher takes.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

/// The argument list of `schema` for `node`: by name, then by position, then defaults. Numbers are
/// converted to the schema's type (an integer for a float argument, a number for a tensor). Throws
/// Error for a missing or unknown argument, or one of the wrong type.
std::vector<c10::IValue> schema_arguments(const Node& node, const c10::FunctionSchema& schema,
                                          const std::vector<c10::IValue>& values,
                                          c10::Device device);

}  // namespace symprof::shape
