// Python's stack at a node of a trace: in which call of which function it ran.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::trace::torchscript {

/// A trace has no regions. But its file may have the stack of Python of each node (its .debug_pkl),
/// and there the function of a decorator stands between the decorated one and who called it.
struct Decorators {
  /// `@torch.no_grad()`: decorate_context of torch/utils/_contextlib.py, which other context
  /// managers have as well. Those that a forward pass is decorated with switch gradients off.
  bool no_grad = false;
  /// `@torch.autocast(…)`: decorate_autocast of torch/amp/autocast_mode.py. Inside of a model that
  /// runs under autocast, such a function asks for float32 (`enabled=False`).
  bool no_autocast = false;

  bool operator==(const Decorators&) const = default;
};

/// A function that has not returned, and the line where it is.
struct StackFrame {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view function;
};

/// The frames between the node and the call of torch.jit.trace, a line for each, the innermost one
/// first; empty where the file has none.
std::string stack_of(const torch::jit::Node& node);

/// The frames of `stack`, the innermost first; views into it.
std::vector<StackFrame> frames_of(std::string_view stack);

/// What decorators say between the node and the call of torch.jit.trace.
Decorators decorators_of(std::string_view stack);

/// What tells a call of a Python function from others: its name, and where it was called from, and
/// so on out. Two calls on one line are one. Empty where the file has no stack.
std::optional<std::string> function_call_of(const torch::jit::Node& node);

}  // namespace symprof::trace::torchscript
