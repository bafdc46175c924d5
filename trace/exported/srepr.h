// Symbolic sizes: the exporter writes sympy's srepr, people and ONNX write infix.
#pragma once

#include <string>
#include <string_view>

#include "trace/exported/json.h"

namespace symprof::trace::exported {

/// "Mul(Integer(2), Symbol('s77', integer=True))" → "2*s77", which trace/graph/expression.h
/// evaluates. Text that is no srepr (PyTorch before 2.6 wrote infix) stays as it is. Throws Error
/// when brackets do not close.
std::string infix(std::string_view srepr, const Place& place);

}  // namespace symprof::trace::exported
