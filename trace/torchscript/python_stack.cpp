#include "trace/torchscript/python_stack.h"

#include <exception>
#include <string>
#include <string_view>

namespace symprof::trace::torchscript {
namespace {

/// Whether a frame of `stack` is in the function of that file: `…/file.py(12): function`.
bool has_frame(std::string_view stack, std::string_view file, std::string_view function) {
  for (std::size_t at = stack.find(file); at != stack.npos; at = stack.find(file, at + 1)) {
    const std::string_view line = stack.substr(at, stack.find('\n', at) - at);
    if (line.ends_with(function)) return true;
  }
  return false;
}

/// The frames between the node and the call of torch.jit.trace, the innermost one first; empty
/// where the file has none.
std::string stack_of(const torch::jit::Node& node) try {
  const auto range = node.sourceRange().findSourceRangeThatGenerated();
  if (!range || !range->source()) return {};
  std::string stack = range->source()->text_str().str();
  const std::size_t end = stack.find("torch/jit/_trace.py(");
  stack.resize(end == stack.npos ? 0 : end);
  return stack;
} catch (const std::exception&) {
  return {};  // A damaged .debug_pkl, which nothing else needs.
}

}  // namespace

Decorators decorators_of(const torch::jit::Node& node) {
  const std::string stack = stack_of(node);
  return {.no_grad = has_frame(stack, "torch/utils/_contextlib.py(", ": decorate_context"),
          .no_autocast = has_frame(stack, "torch/amp/autocast_mode.py(", ": decorate_autocast")};
}

std::optional<std::string> function_call_of(const torch::jit::Node& node) {
  const std::string stack = stack_of(node);
  const std::size_t line = stack.find('('), function = stack.find("): ");
  if (line == stack.npos || function == stack.npos || function < line) return std::nullopt;
  return stack.substr(0, line) + stack.substr(function);
}

}  // namespace symprof::trace::torchscript
