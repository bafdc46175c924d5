// Python's stack at a node of a trace: in which call of which function it ran, and what decorators
// of functions switch off around it.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <string>

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

/// What decorators say between the node and the call of torch.jit.trace; nothing where the file has
/// no stack.
Decorators decorators_of(const torch::jit::Node& node);

/// What tells a call of a Python function from others: its name, and where it was called from, and
/// so on out. Two calls on one line are one. Empty where the file has no stack.
std::optional<std::string> function_call_of(const torch::jit::Node& node);

}  // namespace symprof::trace::torchscript
