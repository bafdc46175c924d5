#include "trace/torchscript/python_stack.h"

#include <algorithm>
#include <charconv>
#include <exception>

namespace symprof::trace::torchscript {
namespace {

/// `…/file.py(12): function`; nullopt if the line is not a frame.
std::optional<StackFrame> parse_frame(std::string_view line) {
  const std::size_t close = line.rfind("): ");
  const std::size_t open = close == line.npos ? line.npos : line.rfind('(', close);
  if (open == line.npos) return std::nullopt;
  StackFrame frame{.file = line.substr(0, open), .function = line.substr(close + 3)};
  std::from_chars(line.data() + open + 1, line.data() + close, frame.line);
  return frame;
}

}  // namespace

std::string stack_of(const torch::jit::Node& node) try {
  const auto range = node.sourceRange().findSourceRangeThatGenerated();
  if (!range || !range->source()) return {};
  std::string stack = range->source()->text_str().str();
  const std::size_t end = stack.find("torch/jit/_trace.py(");
  stack.resize(end == stack.npos ? 0 : stack.rfind('\n', end) + 1);
  return stack;
} catch (const std::exception&) {
  return {};  // A damaged .debug_pkl, which is optional.
}

std::vector<StackFrame> frames_of(std::string_view stack) {
  std::vector<StackFrame> frames;
  while (!stack.empty()) {
    const std::size_t end = std::min(stack.find('\n'), stack.size());
    if (const auto frame = parse_frame(stack.substr(0, end))) frames.push_back(*frame);
    stack.remove_prefix(std::min(end + 1, stack.size()));
  }
  return frames;
}

Decorators decorators_of(std::string_view stack) {
  Decorators found;
  for (const StackFrame& frame : frames_of(stack)) {
    found.no_grad |=
        frame.file.ends_with("torch/utils/_contextlib.py") && frame.function == "decorate_context";
    found.no_autocast |=
        frame.file.ends_with("torch/amp/autocast_mode.py") && frame.function == "decorate_autocast";
  }
  return found;
}

std::optional<std::string> function_call_of(const torch::jit::Node& node) {
  const std::string stack = stack_of(node);
  const std::size_t line = stack.find('('), function = stack.find("): ");
  if (line == stack.npos || function == stack.npos || function < line) return std::nullopt;
  return stack.substr(0, line) + stack.substr(function);
}

}  // namespace symprof::trace::torchscript
