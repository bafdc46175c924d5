// Arguments of a graph node as the values that LibTorch's dispatcher takes.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <vector>

#include "trace/graph/graph.h"

namespace symprof::shape {

/// The whole argument list of `schema` for `node`: by name, then by position, then defaults.
/// Numbers become what the schema asks for (an integer for a float argument, a number for a
/// tensor). Throws Error for an argument that is missing, unknown or of a kind that does not fit.
std::vector<c10::IValue> schema_arguments(const Node& node, const c10::FunctionSchema& schema,
                                          const std::vector<c10::IValue>& values,
                                          c10::Device device);

}  // namespace symprof::shape
