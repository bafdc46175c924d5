#include "report/profile/footer.h"

#include <functional>

#include "record/upper_bounds.h"
#include "report/profile/figure_values.h"
#include "report/profile/memory_text.h"
#include "report/profile/names.h"
#include "report/profile/parallel.h"
#include "report/profile/program_step.h"
#include "report/profile/step_options.h"
#include "report/profile/time_text.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

/// Returns the text of a total by its key: "330.23 MiB".
using Text = std::function<std::string(std::string_view)>;

std::string flops_text(const Text& total, const std::string& key) {
  return fmt::format("{} in products, {} with everything else", total(key), total(key + "_all"));
}

std::string device_text(const DeviceSpec& device, const Totals& totals) {
  std::string text(name(device));
  if (device.memory_bytes > 0)
    text += fmt::format(", peak at {:.1f} % of its {}",
                        100.0 * static_cast<double>(totals.peak_reserved_bytes) /
                            static_cast<double>(device.memory_bytes),
                        format_bytes(device.memory_bytes));
  return text;
}

std::string saved_text(const Text& total, const Totals& totals) {
  std::string saved = total("saved_bytes");
  if (totals.saved_bytes == totals.saved_bytes_with_inputs) return saved;
  return fmt::format("{}, {} with graph inputs", saved, total("saved_bytes_with_inputs"));
}

/// "batch=8 as given, seq=64 from the file"
std::string named_sizes_text(const std::vector<NamedSize>& sizes) {
  std::string text;
  for (const bool given : {true, false}) {
    std::string list;
    for (const NamedSize& size : sizes)
      if (size.is_given == given)
        list += fmt::format("{}{}={}", list.empty() ? "" : ", ", size.name, size.size);
    if (!list.empty())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", list,
                          given ? "as given" : "from the file");
  }
  return text;
}

std::string offloaded_text(const Text& total) {
  return fmt::format("{} of saved tensors in host memory, {} copied there and back",
                     total("offloaded_bytes"), total("transfer_bytes"));
}

std::string recomputed_text(const Text& total) {
  return fmt::format("{}, within backward; model {}, hardware {} in products",
                     flops_text(total, "recompute_flops"), total("model_flops"),
                     total("hardware_flops"));
}

std::string cache_text(const Text& total, const KvCacheRecord& cache) {
  return fmt::format("{} for {} tokens of each of {} sequence{}, {} a token; {} after the step",
                     total("kv_cache_bytes"), group_digits(cache.tokens),
                     group_digits(cache.sequences), cache.sequences == 1 ? "" : "s",
                     total("kv_cache_bytes_per_token"), total("kv_cache_bytes_after"));
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
      "{} of {} calls ({} operator{}) have no rule and are excluded from totals: {}. The rest: {}.",
      group_digits(coverage.unmodelled), group_digits(coverage.calls),
      coverage.unmodelled_ops.size(), coverage.unmodelled_ops.size() == 1 ? "" : "s", ops, kinds);
}

std::vector<FooterLine> footer_lines(const Profile& profile, const StepOptions& options,
                                     Unit unit) {
  std::vector<FooterLine> lines;
  const Totals& totals = profile.totals;
  const Text total = [&](std::string_view key) { return total_text(key, profile, unit); };
  const std::string_view bound = rests_on_upper_bounds(profile.recording) ? "≤ " : "";
  const Text most = [&](std::string_view key) { return fmt::format("{}{}", bound, total(key)); };
  const auto line = [&](std::string_view label, const std::string& text) {
    lines.push_back({label, text});
  };
  line("step", step_text(options));
  add_program_lines(lines, profile, options);
  if (!profile.sizes.empty()) line("sizes", named_sizes_text(profile.sizes));
  line("parameters",
       fmt::format("{} ({}), buffers {}, inputs {}", total("param_bytes"), total("param_count"),
                   total("buffer_bytes"), total("input_bytes")));
  if (options.mode != Mode::inference) line("gradients", total("grad_bytes"));
  const bool is_unknown_update =
      !known_total_of(profile::figure_of("optimizer_flops"), profile, unit);
  if (profile.totals.optimizer_bytes > 0 || options.optimizer != Optimizer::none ||
      is_unknown_update)
    line("optimizer",
         fmt::format("{} of states, {}", total("optimizer_bytes"), total("optimizer_flops")));
  const OtherCalls& others = profile.memory.other_calls;
  if (options.mode != Mode::inference)
    line("saved", (others.may_save_others() ? "about " : "") + saved_text(most, totals));
  if (!options.offload_saved.empty()) line("offloaded", offloaded_text(most));
  if (profile.recording.kv_cache) line("kv cache", cache_text(total, *profile.recording.kv_cache));
  if (profile.recording.rank && options.parallel) {
    line("parallel", parallel_text(profile.recording, *options.parallel, total("comm_bytes")));
    line("", held_by_rank_text(profile.recording.rank->held));
  }
  line("peak", peak_text(profile.memory, profile.recording));
  if (profile.memory.at_peak.total() > 0) line("", held_text(profile.memory.at_peak));
  if (profile.memory.uncertainty.is_lower_bound()) {
    const PeakNote note = uncertainty_note(profile.memory);
    line(note.label, note.text);
  }
  if (others.may_differ()) line("estimate", estimate_text(others));
  line("nvidia-smi",
       fmt::format("{}{}", bound, nvidia_smi_text(profile.memory, options.device.context_bytes)));
  line("forward", flops_text(most, "fwd_flops"));
  if (options.mode != Mode::inference) line("backward", flops_text(most, "bwd_flops"));
  if (totals.recompute_flops_all > 0) line("recomputed", recomputed_text(most));
  if (profile.time) add_time_lines(lines, profile);
  line("device", device_text(options.device, totals));
  if (profile.memory.incomplete_calls > 0) line("workspaces", incomplete_text(profile.memory));
  for (const std::string& warning : profile.warnings)
    lines.push_back({"warning", warning, Emphasis::alert});
  return lines;
}

void write_footer(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                  Unit unit, const Layout& layout) {
  for (const FooterLine& line : footer_lines(profile, options, unit))
    write_line(out, line.label, emphasize(line.text, line.emphasis, layout.color), layout);
}

}  // namespace symprof::report
