// The Python that a node of a script came from, where the file still has it (its .debug_pkl).
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstddef>
#include <optional>
#include <string>

namespace symprof::trace::torchscript {

/// A node of a script has the text of its function; one of a trace the stack of Python, the
/// innermost function first: `model.py(12): forward`
/// (torch/csrc/jit/python/python_tracer.cpp, getPythonInterpreterSourceRange).
struct OriginalSource {
  std::size_t line = 0;  ///< In its file.
  std::string text;      ///< Of that line.
  /// Traces: the function that called the operator.
  std::optional<std::string> function;
};

/// Nothing where the file has no such text, or it cannot be read.
std::optional<OriginalSource> original_source(const torch::jit::Node& node);

}  // namespace symprof::trace::torchscript
