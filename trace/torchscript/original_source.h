// The Python that a node of a script came from, where the file still has it (its .debug_pkl).
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstddef>
#include <optional>
#include <string>

namespace symprof::trace::torchscript {

/// The line that a node came from. A script keeps the text of each function; a trace keeps Python's
/// stack for each node, the innermost function first: `model.py(12): forward`
/// (torch/csrc/jit/python/python_tracer.cpp, getPythonInterpreterSourceRange).
struct OriginalSource {
  std::size_t line = 0;  ///< Its number in the file.
  std::string text;      ///< The line itself.
  /// Traces: the function that called the operator.
  std::optional<std::string> function;
  /// Traces: torch.fx generated the function, which lets each name go with its last use (`x =
  /// None`).
  bool is_generated = false;
};

/// The source of `node`; empty where the file has no such text, or it cannot be read.
std::optional<OriginalSource> original_source(const torch::jit::Node& node);

}  // namespace symprof::trace::torchscript
