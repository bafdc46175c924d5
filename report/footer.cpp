#include "report/footer.h"

#include "report/format_number.h"
#include "report/memory_text.h"
#include "report/names.h"
#include "report/step_options.h"
#include "report/text_table.h"

namespace symprof::report {
namespace {

std::string flops_text(std::int64_t products, std::int64_t all, Unit unit) {
  const std::int64_t counted = in_unit(products, unit);
  return fmt::format("{} in products, {} with everything else", format_count(counted, name(unit)),
                     format_count(all - products + counted, name(unit)));
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

std::string saved_text(const Totals& totals) {
  std::string saved = format_bytes(totals.saved_bytes);
  if (totals.saved_bytes == totals.saved_bytes_with_inputs) return saved;
  return fmt::format("{}, {} with graph inputs", saved,
                     format_bytes(totals.saved_bytes_with_inputs));
}

std::string offloaded_text(const Totals& totals) {
  return fmt::format("{} of saved tensors in host memory, {} copied there and back",
                     format_bytes(totals.offloaded_bytes), format_bytes(totals.transfer_bytes));
}

std::string recomputed_text(const Totals& totals, Unit unit) {
  const auto products = [unit](std::int64_t flops) {
    return format_count(in_unit(flops, unit), name(unit));
  };
  return fmt::format("{}, within backward; model {}, hardware {} in products",
                     flops_text(totals.recompute_flops, totals.recompute_flops_all, unit),
                     products(totals.model_flops), products(totals.hardware_flops));
}

std::string cache_text(const Totals& totals, const KvCacheRecord& cache) {
  return fmt::format("{} for {} tokens of each of {} sequence{}, {} a token; {} after the step",
                     format_bytes(*totals.kv_cache_bytes), group_digits(cache.tokens),
                     group_digits(cache.sequences), cache.sequences == 1 ? "" : "s",
                     format_bytes(totals.kv_cache_bytes_per_token.value_or(0)),
                     format_bytes(*totals.kv_cache_bytes_after));
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
  if (!options.offload_saved.empty()) line("offloaded", offloaded_text(totals));
  if (profile.recording.kv_cache) line("kv cache", cache_text(totals, *profile.recording.kv_cache));
  line("peak", peak_text(profile.memory, profile.recording));
  if (profile.memory.at_peak.total() > 0) line("", held_text(profile.memory.at_peak));
  line("nvidia-smi", nvidia_smi_text(profile.memory, options.device.context_bytes));
  line("forward", flops_text(totals.fwd_flops, totals.fwd_flops_all, unit));
  if (options.mode != Mode::inference)
    line("backward", flops_text(totals.bwd_flops, totals.bwd_flops_all, unit));
  if (totals.recompute_flops_all > 0) line("recomputed", recomputed_text(totals, unit));
  line("device", device_text(options.device, totals));
  if (profile.memory.incomplete_calls > 0) line("workspaces", incomplete_text(profile.memory));
  for (const std::string& warning : profile.warnings)
    write_line(out, "warning", emphasize(warning, Emphasis::alert, layout.colour), layout);
}

}  // namespace symprof::report
