// Symbolic sizes: converts the exporter's sympy srepr to infix, as in ONNX.
#pragma once

#include <string>
#include <string_view>

#include "trace/exported/json.h"

namespace symprof::trace::exported {

/// "Mul(Integer(2), Symbol('s77', integer=True))" → "2*s77", which trace/graph/expression.h
/// evaluates. Other text (PyTorch before 2.6 wrote infix) is returned unchanged. Throws Error for
/// unbalanced brackets.
std::string infix(std::string_view srepr, const Place& place);

}  // namespace symprof::trace::exported
