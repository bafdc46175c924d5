// Local functions put into the graphs that call them.
//
// Public header.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workbench/model.h"

namespace onnx {
class FunctionProto;
}

namespace symprof::workbench {

/// Whether `glob` (with *, ? and [..]) matches a function's name, or "domain.name".
bool matches(const std::string& glob, const onnx::FunctionProto& function);

struct InlineReport {
  int calls = 0;                  ///< Calls that were replaced.
  std::vector<std::string> kept;  ///< Functions that could not be inlined, and why.
};

/// Puts the bodies of the chosen functions where they are called, in subgraphs and in other
/// functions too, and drops functions that nothing calls any more. Results of a body keep their
/// names where those are free, and get "__2", "__3", … where not. Nodes of a body keep their own
/// metadata, or get that of the call where they have none. A function that is written for another
/// version of an operator than the model's is kept. Throws Error for functions that call
/// themselves, and where the result has millions of nodes.
InlineReport inline_functions(onnx::ModelProto& model,
                              const std::function<bool(const onnx::FunctionProto&)>& chosen,
                              const std::string& path);

/// As the option --functions says: "keep" nothing changes, "inline" all, else those that a glob
/// matches.
InlineReport inline_functions(onnx::ModelProto& model, const std::string& choice,
                              const std::string& path);

}  // namespace symprof::workbench
