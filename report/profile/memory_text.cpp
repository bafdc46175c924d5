#include "report/profile/memory_text.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/transform.hpp>
#include <vector>

#include "base/setting.h"
#include "record/upper_bounds.h"
#include "report/profile/names.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {

void write_line(fmt::memory_buffer& out, std::string_view label, std::string_view text,
                const Layout& layout) {
  constexpr int label_width = 13;
  fmt::format_to(std::back_inserter(out), "{}{:{}}{}\n",
                 emphasize(label, Emphasis::strong, layout.color), "",
                 label_width - static_cast<int>(label.size()), spelled(text, layout.spell));
}

std::string call_text(Phase phase, const std::string& node, const std::string& module) {
  std::string text = fmt::format("{} at {}", name(phase), node);
  if (!module.empty()) text += fmt::format(" of {}", module);
  return text;
}

std::string call_text(CallId id, const Recording& recording) {
  if (id == none) return no_call_text;
  const CallRecord& call = recording.calls[static_cast<std::size_t>(id)];
  const NodeRecord& node = recording.nodes[static_cast<std::size_t>(call.node)];
  const std::string text = call_text(call.phase, node.name, node.module);
  return !node.source.empty() ? fmt::format("{} ({})", text, node.source) : text;
}

std::string peak_text(const StepMemory& memory, const Recording& recording) {
  const std::int64_t reserved = memory.peak_reserved_bytes;
  const OtherCalls& calls = memory.other_calls;
  const std::string_view prefix =
      calls.is_no_bound()                                                  ? "about "
      : memory.uncertainty.is_lower_bound() || memory.unmodelled_calls > 0 ? "at least "
      : calls.may_differ()                                                 ? "about "
      : rests_on_upper_bounds(recording)                                   ? "≤ "
                                                                           : "";
  const double fragmentation = reserved == 0 ? 0
                                             : static_cast<double>(memory.fragmentation_bytes()) /
                                                   static_cast<double>(reserved);
  const std::string of_graphs =
      memory.graph_pool_bytes == 0
          ? ""
          : fmt::format(", {} of it for CUDA graphs", format_bytes(memory.graph_pool_bytes));
  return fmt::format("{}{} allocated, {}{} reserved ({:.1f} % fragmentation{}), in {}", prefix,
                     format_bytes(memory.peak_allocated_bytes), prefix == "≤ " ? prefix : "",
                     format_bytes(reserved), 100 * fragmentation, of_graphs,
                     call_text(memory.peak_call, recording));
}

std::string_view because(const PeakUncertainty& uncertainty) {
  switch (uncertainty.because) {
    case LifetimeUncertainty::function:
      return "functions whose source lines the file lacks may hold values longer";
    case LifetimeUncertainty::container:
      return "calls return more than the file shows, which may hold values longer";
    case LifetimeUncertainty::no_lines:
      return "the file does not say which Python variables hold values";
    case LifetimeUncertainty::unregistered:
      return "constructors put tensors into attributes that are in no file, as they are neither "
             "parameters nor buffers";
    case LifetimeUncertainty::unread:
      return "in so small a step, tensors that a module holds without registering them matter: no "
             "file has them";
    case LifetimeUncertainty::none:
      break;
  }
  return {};
}

std::string because(const OtherCalls& calls) {
  switch (calls.reason) {
    case OtherCallsReason::training:
      return "the file may have code that the model runs in training alone";
    case OtherCallsReason::masks:
    case OtherCallsReason::saving_masks:
      return "the file has attention masks that the model's own code may leave out";
    case OtherCallsReason::functions:
      return "the file lacks the backward pass of a torch.autograd.Function, and has what autograd "
             "makes of its forward pass";
    case OtherCallsReason::onnx:
      return "ONNX has other operators than the model's own code";
    case OtherCallsReason::saving:
      return fmt::format("operators of ONNX that may stand for other calls of PyTorch: {}",
                         fmt::join(calls.operators, ", "));
    case OtherCallsReason::names:
      return "a trace lacks some Python variables: rebinding one releases its value";
    case OtherCallsReason::none:
      break;
  }
  return {};
}

std::string estimate_text(const OtherCalls& calls) {
  if (calls.may_save_others())
    return fmt::format(
        "the peak and the saved bytes are those of the file's calls, the model's own may be "
        "lower{}: "
        "{}",
        calls.may_miss() ? " or higher" : "", because(calls));
  if (calls.guesses_names()) return fmt::format("the peak may be lower: {}", because(calls));
  return fmt::format("the peak is that of the file's calls, the model's own may be lower: {}",
                     because(calls));
}

std::string uncertainty_text(const PeakUncertainty& uncertainty, bool may_be_lower) {
  std::string text = fmt::format("the peak {}: {}, up to {} more",
                                 may_be_lower ? "may be higher, too" : "is a lower bound",
                                 because(uncertainty), format_bytes(uncertainty.bytes));
  if (uncertainty.most_bytes > uncertainty.bytes)
    text +=
        fmt::format("; {} if they hold all until the end", format_bytes(uncertainty.most_bytes));
  return text;
}

PeakNote uncertainty_note(const StepMemory& memory) {
  const bool may_be_lower = memory.other_calls.is_no_bound();
  return {may_be_lower ? "lifetimes" : "lower bound",
          uncertainty_text(memory.uncertainty, may_be_lower)};
}

std::string nvidia_smi_text(const StepMemory& memory, std::optional<std::int64_t> context_bytes) {
  const std::string reserved = format_bytes(memory.peak_reserved_bytes);
  if (!context_bytes)
    return fmt::format("{} and CUDA's context, not measured for this device ({} sets it)", reserved,
                       setting("context"));
  return fmt::format("{}: {} reserved, {} for CUDA's context",
                     format_bytes(memory.peak_reserved_bytes + *context_bytes), reserved,
                     format_bytes(*context_bytes));
}

std::string held_text(const MemoryBreakdown& held) {
  auto categories = ranges::views::iota(std::size_t{0}, memory_categories) |
                    ranges::views::filter([&](std::size_t i) { return held.bytes[i] > 0; }) |
                    ranges::views::transform([](std::size_t i) { return MemoryCategory(i); }) |
                    ranges::to<std::vector>();
  std::ranges::stable_sort(categories, std::greater(),
                           [&](MemoryCategory category) { return held[category]; });
  std::string text;
  for (const MemoryCategory category : categories)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(category),
                        format_bytes(held[category]));
  return text;
}

std::string incomplete_text(const StepMemory& memory) {
  const bool all_without_rule = memory.unmodelled_calls == memory.incomplete_calls;
  return fmt::format("{} call{}: workspace size unknown ({}{}), not included",
                     group_digits(memory.incomplete_calls), memory.incomplete_calls == 1 ? "" : "s",
                     all_without_rule ? "no rule" : "the library chooses the kernel",
                     memory.unmodelled_calls > 0 && !all_without_rule ? ", or no rule" : "");
}

}  // namespace symprof::report
