#include "report/plan/checkpoint_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "profile/memory/other_calls.h"
#include "profile/memory/peak_uncertainty.h"
#include "record/module_path.h"
#include "report/plan/warm_start_python.h"
#include "report/profile/memory_text.h"
#include "report/profile/names.h"
#include "report/write/format_number.h"
#include "session/checkpoint_answer.h"

namespace symprof::report {
namespace {

using plan::PlanAnswer;
using plan::SimulatedPlan;

/// "2 addmm, gelu"
std::string kept_text(const std::vector<KeptCall>& kept) {
  std::map<std::string, int> counts;
  for (const KeptCall& call : kept) ++counts[call.op.substr(call.op.find("::") + 2)];
  std::vector<std::string> words;
  words.reserve(counts.size());
  for (const auto& [op, count] : counts)
    words.push_back(count == 1 ? op : fmt::format("{} {}", count, op));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// The path without the number at its end ("layers.7", "encoder_layer_7"), and that number.
std::pair<std::string, std::string> pattern_and_number(const std::string& path) {
  const std::size_t last = path.find_last_not_of("0123456789");
  if (last == std::string::npos || (path[last] != '.' && path[last] != '_')) return {path, ""};
  return {path.substr(0, last + 1), path.substr(last + 1)};
}

/// "0, 3 to 7" of "0", "3", … in order.
std::string ranges_text(const std::vector<std::string>& numbers) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && std::stol(numbers[end]) == std::stol(numbers[end - 1]) + 1)
      ++end;
    words.push_back(
        end - i < 3
            ? fmt::format("{}", fmt::join(numbers.begin() + static_cast<std::ptrdiff_t>(i),
                                          numbers.begin() + static_cast<std::ptrdiff_t>(end), ", "))
            : fmt::format("{} to {}", numbers[i], numbers[end - 1]));
    i = end;
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

/// How a module runs in backward.
struct Treatment {
  std::string what, kept;
  auto operator<=>(const Treatment&) const = default;
};

Treatment treatment_of(const std::string& module, const CheckpointPlan& plan) {
  const bool is_on_host = std::ranges::find(plan.offloaded, module) != plan.offloaded.end();
  for (const CheckpointRegion& region : plan.regions)
    if (std::ranges::find(region.modules, module) != region.modules.end())
      return {fmt::format("{}{}", is_on_host ? "inputs in host memory, " : "",
                          region.kept.empty() ? "recomputed" : "recomputed, except"),
              kept_text(region.kept)};
  return {is_on_host ? "saved in host memory" : "not recomputed", ""};
}

}  // namespace

std::vector<PlanLine> lines_of(const CheckpointAnswer& answer, const CheckpointPlan& plan) {
  struct Line {
    std::string pattern;
    Treatment treatment;
    std::vector<std::string> numbers;
  };
  std::vector<Line> lines;
  for (const std::string& module : answer.regions) {
    const auto [pattern, number] = pattern_and_number(module);
    const Treatment treatment = treatment_of(module, plan);
    const auto same =
        std::ranges::find_if(lines, [&, &pattern = pattern, &number = number](const Line& line) {
          return line.pattern == pattern && line.treatment == treatment && !number.empty();
        });
    if (same != lines.end())
      same->numbers.push_back(number);
    else
      lines.push_back({pattern, treatment, {number}});
  }
  std::vector<PlanLine> written;
  written.reserve(lines.size());
  for (const Line& line : lines)
    written.push_back(
        {line.numbers[0].empty() ? line.pattern : line.pattern + ranges_text(line.numbers),
         static_cast<std::int64_t>(line.numbers.size()), line.treatment.what, line.treatment.kept});
  return written;
}

double share_of_step(const CheckpointAnswer& answer, double us) {
  return answer.plain_step_us > 0 ? 100 * us / answer.plain_step_us : 0;
}

std::string verdict(const CheckpointAnswer& answer, const PlanAnswer& one) {
  const std::string budget = format_bytes(one.budget_bytes + answer.context_bytes);
  if (!one.best)
    return one.is_impossible
               ? fmt::format("{}: no checkpoint plan fits {} (proved).", answer.model, budget)
               : fmt::format("{}: no checkpoint plan was found for {}, but one may exist.",
                             answer.model, budget);
  if (one.best->plan.is_empty())
    return fmt::format("{} fits into {} without a plan.", answer.model, budget);
  return fmt::format("{} fits into {} with this plan, for {:.2f} % more time.", answer.model,
                     budget, share_of_step(answer, one.best->cost_us));
}

std::optional<double> gap_of(const CheckpointAnswer& answer, const PlanAnswer& one) {
  if (!one.best || !one.least_cost_us) return std::nullopt;
  return share_of_step(answer, std::max(one.best->cost_us - *one.least_cost_us, 0.0));
}

std::string bound_text(const CheckpointAnswer& answer, const PlanAnswer& one) {
  if (!one.least_cost_us) return "";
  std::string least =
      fmt::format("any plan that recomputes these modules one by one takes at least {} more",
                  format_time(*one.least_cost_us));
  const std::optional<double> gap = gap_of(answer, one);
  if (!gap) return least;
  return fmt::format("{}; this one is within {:.2f} % of the step", least, *gap);
}

std::string least_memory_text(const CheckpointAnswer& answer) {
  if (!answer.least) return "";
  const CallRecord& call = answer.recording.calls[static_cast<std::size_t>(answer.least->call)];
  const NodeRecord& node = answer.recording.nodes[static_cast<std::size_t>(call.node)];
  std::vector<std::string> parts;
  parts.reserve(memory_categories);
  for (std::size_t i = 0; i < memory_categories; ++i)
    if (answer.plain_at_least.bytes[i] > 0)
      parts.push_back(fmt::format("{} {}", format_bytes(answer.plain_at_least.bytes[i]),
                                  name(static_cast<MemoryCategory>(i))));
  std::string beside;
  if (answer.least->other_pool_bytes > 0)
    beside = fmt::format(
        "; {} more are segments of the allocator's other block pool (up to 1 MiB, or above), which "
        "peaks at another call",
        format_bytes(answer.least->other_pool_bytes));
  return fmt::format(
      "{} with any checkpoint plan of these modules{}, at {} of {}, where the step without a plan "
      "holds {}{}",
      format_bytes(answer.least->bytes + answer.context_bytes),
      answer.offloads ? " and no offloading" : "",
      answer.recording.ops[static_cast<std::size_t>(call.op)],
      node.module.empty() ? node.name : node.module, fmt::format("{}", fmt::join(parts, ", ")),
      beside);
}

std::string budget_text(const CheckpointAnswer& answer, const PlanAnswer& one) {
  return fmt::format(
      "{} of {}; {} {} for CUDA's context{}", format_bytes(one.budget_bytes),
      format_bytes(one.budget_bytes + answer.context_bytes), format_bytes(answer.context_bytes),
      answer.is_context_given ? "given" : "set aside",
      answer.is_context_given ? ""
                              : fmt::format(" (not measured; {} sets it)", setting("context")));
}

std::string figures_text(const CheckpointAnswer& answer, const SimulatedPlan& simulated) {
  std::string text = fmt::format("{} allocated, {} reserved, step of {}",
                                 format_bytes(simulated.peaks.allocated_bytes),
                                 format_bytes(simulated.peaks.reserved_bytes),
                                 format_time(answer.plain_step_us + simulated.cost_us));
  if (simulated.cost_us > 0)
    text += fmt::format(" ({} or {:.2f} % more)", format_time(simulated.cost_us),
                        share_of_step(answer, simulated.cost_us));
  if (simulated.offloaded_bytes > 0)
    text += fmt::format(", {} in host memory", format_bytes(simulated.offloaded_bytes));
  return text;
}

std::string warm_start_text(const CheckpointAnswer& answer) {
  const bool has_states = takes_optimizer(answer);
  if (!has_states && !answer.uses_cublas) return "";
  return fmt::format("make {}{}{}", has_states ? "the optimizer's states" : "",
                     has_states && answer.uses_cublas ? " and " : "",
                     answer.uses_cublas ? "cuBLAS's workspaces" : "");
}

std::string up_front_text(const CheckpointAnswer& answer, const SimulatedPlan& simulated) {
  const std::vector<std::int64_t>& each = simulated.up_front_bytes;
  if (each.empty()) return "";
  std::string in_mebibytes;
  for (const std::int64_t bytes : each)
    in_mebibytes += fmt::format("{}{}", in_mebibytes.empty() ? "" : "+", bytes >> 20);
  const bool is_one = each.size() == 1;
  const std::string call = fmt::format("torch.empty({}, dtype=torch.uint8, device=\"cuda\")",
                                       is_one ? fmt::format("{}", each.front()) : std::string("n"));
  const std::string calls =
      is_one ? call : fmt::format("[{} for n in ({})]", call, fmt::join(each, ", "));
  std::string text = fmt::format(
      "before anything is on the device, run {} and drop the result: PyTorch's allocator "
      "keeps these {} for blocks of more than 1 MiB ({})",
      calls, format_bytes(simulated.up_front_sum_bytes()),
      setting("alloc_conf", fmt::format("reserve_up_front_mb:{}", in_mebibytes)));
  if (const std::string made = warm_start_text(answer); simulated.warm_start && !made.empty())
    text += fmt::format("; before the first step, {} ({})", made, setting("warm_start"));
  return text;
}

std::optional<SimulatedPlan> offer_of(const CheckpointAnswer& answer, std::size_t budget) {
  return budget < answer.expandable.size() ? answer.expandable[budget] : std::nullopt;
}

std::string expandable_text(const CheckpointAnswer& answer, const SimulatedPlan& offer) {
  return fmt::format("it fits with {} {}: {}", setting("alloc_conf", "expandable_segments:True"),
                     offer.plan.is_empty() ? "without a plan" : "and another plan",
                     figures_text(answer, offer));
}

std::string regions_text(const CheckpointAnswer& answer) {
  return fmt::format("{} modules may be recomputed, of {} kind{}; {} plans simulated",
                     answer.regions.size(), answer.block_types, answer.block_types == 1 ? "" : "s",
                     answer.plans_simulated);
}

std::vector<std::string> notes_of(const CheckpointAnswer& answer) {
  std::vector<std::string> notes;
  if (answer.waits_for_host)
    notes.push_back("the step is host-bound: recomputation costs the time to issue its calls");
  if (answer.offloads) notes.push_back("with offloading, no lower bound of the time is known");
  if (answer.unknown_calls > 0)
    notes.push_back(fmt::format("{} calls have no time estimate, and count as 0 here",
                                group_digits(answer.unknown_calls)));
  for (const plan::NotTried& module : answer.left_out)
    notes.push_back(fmt::format("{} is left out: {}", text_of(module.change), module.problem));
  if (const PeakUncertainty uncertainty = profile::peak_uncertainty(answer.recording);
      uncertainty.is_lower_bound())
    notes.push_back(
        uncertainty_text(uncertainty, profile::other_calls(answer.recording).is_no_bound()));
  for (const std::string& warning : answer.recording.warnings) notes.push_back(warning);
  return notes;
}

}  // namespace symprof::report
