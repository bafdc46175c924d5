// Inlines local functions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workbench/model.h"

namespace onnx {
class FunctionProto;
}

namespace symprof::workbench {

/// True if `glob` (with *, ? and [..]) matches a function's name, or "domain.name".
bool matches(const std::string& glob, const onnx::FunctionProto& function);

struct InlineReport {
  int calls = 0;                  ///< Calls that were inlined.
  std::vector<std::string> kept;  ///< Functions that could not be inlined, and why.
};

/// Inlines the chosen functions where they are called, also in subgraphs and in other functions,
/// and removes functions without calls. Results of a body keep their names if those are free, and
/// else get "__2", "__3", …. Nodes of a body keep their own metadata, or get that of the call if
/// they have none. A function written for another version of an operator than the model's is kept.
/// Throws Error for recursive functions, and if the result has millions of nodes.
InlineReport inline_functions(onnx::ModelProto& model,
                              const std::function<bool(const onnx::FunctionProto&)>& chosen,
                              const std::string& path);

/// Follows the option --functions: "keep" changes nothing, "inline" inlines all, else a glob
/// selects.
InlineReport inline_functions(onnx::ModelProto& model, const std::string& choice,
                              const std::string& path);

}  // namespace symprof::workbench
