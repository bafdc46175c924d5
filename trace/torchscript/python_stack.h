// Python's stack at a node of a trace: the calls of functions it ran in.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace symprof::trace::torchscript {

/// A trace has no regions. But its file may have each node's Python stack (.debug_pkl), which shows
/// a decorator's function between the decorated one and its caller.
struct Decorators {
  /// `@torch.no_grad()`: decorate_context of torch/utils/_contextlib.py, also used by other context
  /// managers. In a forward pass, those that decorate functions disable gradients.
  bool no_grad = false;
  /// `@torch.autocast(…)`: decorate_autocast of torch/amp/autocast_mode.py. In a model under
  /// autocast, such a function requests float32 (`enabled=False`).
  bool no_autocast = false;

  bool operator==(const Decorators&) const = default;
};

/// An active function and its current line.
struct StackFrame {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view function;
};

/// The frames from the node out to torch.jit.trace, one per line, innermost first; empty if the
/// file has none.
std::string stack_of(const torch::jit::Node& node);

/// The frames of `stack`, the innermost first; views into it.
std::vector<StackFrame> frames_of(std::string_view stack);

/// The decorators between the node and torch.jit.trace.
Decorators decorators_of(std::string_view stack);

/// A key of a Python function call: its name and call site, and so on outwards. Two calls on one
/// line are equal. Empty if the file has no stack.
std::optional<std::string> function_call_of(const torch::jit::Node& node);

}  // namespace symprof::trace::torchscript
