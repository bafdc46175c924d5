#include "report/footer.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "report/format_number.h"
#include "report/names.h"
#include "report/option_names.h"
#include "report/text_table.h"

namespace symprof::report {
namespace {

/// "label   text", the label in bold and padded, so that the texts stand under one another.
void write_line(fmt::memory_buffer& out, std::string_view label, std::string_view text,
                const Layout& layout) {
  constexpr int label_width = 13;
  fmt::format_to(std::back_inserter(out), "{}{:{}}{}\n",
                 emphasize(label, Emphasis::strong, layout.colour), "",
                 label_width - static_cast<int>(label.size()), text);
}

std::int64_t in_unit(std::int64_t products, Unit unit) {
  return unit == Unit::flops ? products : products / 2;
}

std::string flops_text(std::int64_t products, std::int64_t all, Unit unit) {
  const std::int64_t counted = in_unit(products, unit);
  return fmt::format("{} in products, {} with everything else", format_count(counted, name(unit)),
                     format_count(all - products + counted, name(unit)));
}

std::string peak_text(const Profile& profile) {
  const Totals& totals = profile.totals;
  std::string text =
      fmt::format("{} allocated, {} reserved", format_bytes(totals.peak_allocated_bytes),
                  format_bytes(totals.peak_reserved_bytes));
  text += fmt::format(", in {}", name(totals.peak_phase));
  if (totals.peak_node == none) return text;
  const NodeRecord& node = profile.recording.nodes[totals.peak_node];
  text += fmt::format(" at {}", node.name);
  if (!node.module.empty()) text += fmt::format(" of {}", node.module);
  return text;
}

/// "parameters 1.2 GiB, activations 3.4 GiB": what is held at the peak, the largest first.
std::string held_text(const StepMemory& memory) {
  std::vector<MemoryCategory> categories;
  for (std::size_t i = 0; i < memory_categories; ++i)
    if (memory.at_peak.bytes[i] > 0) categories.push_back(static_cast<MemoryCategory>(i));
  std::ranges::stable_sort(categories, std::greater(),
                           [&](MemoryCategory category) { return memory.at_peak[category]; });
  std::string text;
  for (const MemoryCategory category : categories)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(category),
                        format_bytes(memory.at_peak[category]));
  return text;
}

std::string device_text(const DeviceSpec& device, const Totals& totals) {
  std::string text = device.description.empty() ? device.name : device.description;
  if (device.memory_bytes > 0)
    text += fmt::format(", peak at {:.1f} % of its {}",
                        100.0 * static_cast<double>(totals.peak_reserved_bytes) /
                            static_cast<double>(device.memory_bytes),
                        format_bytes(device.memory_bytes));
  return text;
}

std::string step_text(const StepOptions& options) {
  std::string text(name_of(modes, options.mode));
  if (options.mode != Mode::inference && options.loss != Loss::ones)
    text += fmt::format(", loss {}", name_of(losses, options.loss));
  if (options.optimizer != Optimizer::none) text += ", optimizer " + optimizer_name(options);
  if (options.autocast) text += fmt::format(", autocast {}", symprof::name(*options.autocast));
  if (options.attention != AttentionBackend::automatic)
    text += fmt::format(", attention {}", name_of(attention_backends, options.attention));
  return text;
}

std::string saved_text(const Totals& totals) {
  std::string saved = format_bytes(totals.saved_bytes);
  if (totals.saved_bytes == totals.saved_bytes_with_inputs) return saved;
  return fmt::format("{}, {} with graph inputs", saved,
                     format_bytes(totals.saved_bytes_with_inputs));
}

}  // namespace

std::string coverage_line(const Coverage& coverage) {
  const std::string kinds =
      fmt::format("{} exact, {} modelled, {} free", group_digits(coverage.exact),
                  group_digits(coverage.modelled), group_digits(coverage.free));
  if (coverage.unmodelled == 0)
    return fmt::format("{} calls, all counted: {}.", group_digits(coverage.calls), kinds);
  std::string ops;
  for (const std::string& op : coverage.unmodelled_ops) ops += (ops.empty() ? "" : ", ") + op;
  return fmt::format(
      "{} of {} calls ({} operator{}) have no rule and are in no sum: {}. The rest: {}.",
      group_digits(coverage.unmodelled), group_digits(coverage.calls),
      coverage.unmodelled_ops.size(), coverage.unmodelled_ops.size() == 1 ? "" : "s", ops, kinds);
}

void write_footer(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                  Unit unit, const Layout& layout) {
  const Totals& totals = profile.totals;
  const auto line = [&](std::string_view label, const std::string& text) {
    write_line(out, label, text, layout);
  };
  line("step", step_text(options));
  line("parameters",
       fmt::format("{} ({}), buffers {}, inputs {}", format_bytes(totals.param_bytes),
                   group_digits(totals.param_count), format_bytes(totals.buffer_bytes),
                   format_bytes(totals.input_bytes)));
  if (options.mode != Mode::inference) line("gradients", format_bytes(totals.grad_bytes));
  if (options.optimizer != Optimizer::none)
    line("optimizer", fmt::format("{} of states, {}", format_bytes(totals.optimizer_bytes),
                                  format_count(totals.optimizer_flops, "FLOPs")));
  if (options.mode != Mode::inference) line("saved", saved_text(totals));
  line("peak", peak_text(profile));
  if (profile.memory.at_peak.total() > 0) line("", held_text(profile.memory));
  line("forward", flops_text(totals.fwd_flops, totals.fwd_flops_all, unit));
  if (options.mode != Mode::inference)
    line("backward", flops_text(totals.bwd_flops, totals.bwd_flops_all, unit));
  line("device", device_text(options.device, totals));
  if (profile.memory.incomplete_calls > 0)
    line("workspaces", fmt::format("of {} calls are in no sum: only the library that chooses the "
                                   "kernel knows their size",
                                   group_digits(profile.memory.incomplete_calls)));
  for (const std::string& warning : profile.warnings)
    write_line(out, "warning", emphasize(warning, Emphasis::alert, layout.colour), layout);
}

}  // namespace symprof::report
