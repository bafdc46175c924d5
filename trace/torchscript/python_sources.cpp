#include "trace/torchscript/python_sources.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "trace/python/source/own_calls.h"
#include "trace/python/source/python_folders.h"
#include "trace/python/source/tokens.h"

namespace symprof::trace::torchscript {
namespace {

/// True for torch.nn.Module's frames around a forward function.
bool calls_a_module(const StackFrame& frame) {
  return frame.file.ends_with("torch/nn/modules/module.py") &&
         (frame.function == "_slow_forward" || frame.function == "_call_impl" ||
          frame.function == "_wrapped_call_impl");
}

/// `<listcomp>`, `<genexpr>`, `<lambda>`: they are on a line of another function.
bool has_no_name(const StackFrame& frame) { return frame.function.starts_with('<'); }

/// True for frames of decorators.
bool decorates(const StackFrame& frame) {
  return frame.file.ends_with("torch/utils/_contextlib.py") ||
         frame.file.ends_with("torch/amp/autocast_mode.py");
}

/// Formatted as by Python's traceback module; without text if the line is not available.
std::string text_of(const StackFrame& frame, const PythonLine* line) {
  const std::string place = fmt::format("File \"{}\", line {}, in {}\n", frame.file,
                                        line != nullptr ? line->first : frame.line, frame.function);
  return line != nullptr ? place + line->text + "\n" : place;
}

}  // namespace

void PythonSources::judge(const torch::jit::Module& module) {
  for (const torch::jit::Module& part : module.modules())
    for (const torch::jit::Method& method : part.get_methods())
      for (const torch::jit::Node* node : method.graph()->nodes())
        if (node->kind().is_aten()) judge(*node);
  check_found();
}

void PythonSources::judge(const torch::jit::Node& node) {
  std::string stack = stack_of(node);
  const auto [known, is_new] = judged_.insert(std::move(stack));
  if (!is_new) return;
  std::string_view called;
  for (const StackFrame& frame : frames_of(*known)) {
    if (!has_no_name(frame)) judge(frame, called);
    const bool is_named = !has_no_name(frame) && !calls_a_module(frame) && !decorates(frame) &&
                          !frame.function.starts_with("_") && frame.function != "forward";
    called = is_named ? frame.function : std::string_view{};
  }
}

/// `called`: the function called at the frame's line; empty if none, or if the line may call it by
/// another name.
void PythonSources::judge(const StackFrame& frame, std::string_view called) {
  File& file = file_of(frame.file);
  if (!file.content || file.has_moved) return;
  const PythonLine* line = file.content->at(frame.line);
  file.has_moved = line == nullptr || line->function != frame.function;
  const bool tells = !file.has_moved && !called.empty() && !calls_a_module(frame);
  if (tells && file.judged.emplace(frame.line, called).second)
    ++(count_word(line->text, called) > 0 ? file.naming : file.silent);
}

SourceOfNode PythonSources::source_of(const std::string& stack) {
  const auto [known, is_new] = known_.try_emplace(stack);
  if (is_new) known->second = read(stack);
  return known->second;
}

SourceOfNode PythonSources::read(const std::string& stack) {
  std::vector<StackFrame> frames = frames_of(stack);
  std::erase_if(frames, [](const StackFrame& frame) {
    return calls_a_module(frame) || has_no_name(frame) || decorates(frame);
  });
  SourceOfNode found;
  std::string trace;
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {  // The outermost first.
    const PythonLine* line = line_of(*frame);
    if (line != nullptr && hands_on_arguments(line->text)) continue;  // Keeps nothing else alive.
    if (line != nullptr) {
      add_return(trace, *frame, *line);
      add_plain_lines(trace, *frame, *line);
    }
    trace += text_of(*frame, line);
  }
  for (const StackFrame& frame : frames) {
    const PythonLine* line = line_of(frame);
    if (line == nullptr) continue;
    if (!found.gradients) found.gradients = line->gradients;
    found.no_autocast |= line->no_autocast;
  }
  found.line = table_.intern(traces_.emplace_back(std::move(trace)));
  return found;
}

/// Adds the return line of `frame`'s function, which may have no node. `callers`: the frames around
/// it.
void PythonSources::add_return(const std::string& callers, const StackFrame& frame,
                               const PythonLine& line) {
  const PythonLine* last = file_of(frame.file).content->last_return(line);
  if (last == nullptr) return;
  const auto [trace, is_new] = returns_.insert(callers + text_of(frame, last));
  if (is_new) table_.intern(*trace);
}

/// Adds the line of `frame`, and lines of its function without nodes.
void PythonSources::add_plain_lines(const std::string& callers, const StackFrame& frame,
                                    const PythonLine& line) {
  add_line(callers + text_of(frame, &line), line);
  for (const PythonLine* plain : file_of(frame.file).content->plain_lines(line))
    add_line(callers + text_of(frame, plain), *plain);
}

void PythonSources::add_line(std::string trace, const PythonLine& line) {
  const auto [known, is_new] = added_.insert(std::move(trace));
  if (is_new) lines_[static_cast<std::size_t>(table_.intern(*known))].blocks = line.blocks;
}

const PythonLine* PythonSources::line_of(const StackFrame& frame) {
  const File& file = file_of(frame.file);
  return file.content && !file.is_other_version() ? file.content->at(frame.line) : nullptr;
}

PythonSources::File& PythonSources::file_of(std::string_view path) {
  const auto [known, is_new] = files_.try_emplace(std::string(path));
  if (is_new) known->second.content = read_python(folders_, path);
  return known->second;
}

void PythonSources::check_found() const {
  const auto is_there = [](const auto& file) {
    return file.second.content && !file.second.is_other_version();
  };
  if (std::ranges::any_of(files_, is_there)) return;
  if (files_.empty())
    throw Error(SettingRef{"python_sources"}, "the trace does not say which lines made it.",
                "Write it with torch.jit.save, which puts Python's stacks beside the code.");
  const auto path = [](const auto& file) -> const std::string& { return file.first; };
  const std::string& first = path(*std::ranges::min_element(files_, {}, path));
  throw Error(SettingRef{"python_sources"},
              fmt::format("none of the trace's {} Python files (first '{}') is there as it was "
                          "when the trace was made.",
                          files_.size(), first),
              "Give the folder that has them, or / where they lie at those paths.");
}

std::string PythonSources::warning() const {
  std::vector<std::string_view> others;
  for (const auto& [path, file] : files_)
    if (file.is_other_version()) others.push_back(path);
  if (others.empty()) return {};
  std::ranges::sort(others);
  return fmt::format(
      "{} of the trace's Python files (first {}) {} another version than the one that was traced: "
      "{} lines are left out.",
      others.size(), others[0], others.size() == 1 ? "is" : "are",
      others.size() == 1 ? "its" : "their");
}

}  // namespace symprof::trace::torchscript
