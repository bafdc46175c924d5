// Python operators on numbers, between the ATen calls of a graph with symbolic shapes.
#pragma once

#include <ATen/core/ivalue.h>

#include <string_view>
#include <vector>

namespace symprof::shape {

/// Prefix of builtin operators: "builtin::add".
constexpr std::string_view builtin_prefix = "builtin::";

/// A function such as "add" or "floordiv" of one or two numbers, with Python's meaning.
using Builtin = c10::IValue (*)(const std::vector<at::Scalar>& operands);

/// `name` has no "builtin::" prefix. Null for an unknown name.
Builtin find_builtin(std::string_view name);

}  // namespace symprof::shape
