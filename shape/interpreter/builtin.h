// Python operators on numbers, which a graph with symbolic shapes has between its ATen calls.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

namespace symprof::shape {

/// Begins the names of operators that are builtins: "builtin::add".
constexpr std::string_view builtin_prefix = "builtin::";

/// A function such as "add" or "floordiv" of one or two numbers, with Python's meaning.
using Builtin = c10::IValue (*)(const std::vector<at::Scalar>& operands);

/// `name` without the "builtin::" prefix. Null when there is none of that name.
Builtin find_builtin(std::string_view name);

}  // namespace symprof::shape
