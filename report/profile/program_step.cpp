#include "report/profile/program_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>
#include <string>

#include "report/write/format_number.h"

namespace symprof::report {
namespace {

/// "adamw:fused (generator_optimizer)"
std::string text_of(const ProgramOptimizer& optimizer) {
  return optimizer.name.empty() ? optimizer.label
                                : fmt::format("{} ({})", optimizer.label, optimizer.name);
}

std::string text_of(const std::vector<ProgramOptimizer>& optimizers) {
  return fmt::format("{}", fmt::join(optimizers | ranges::views::transform([](const auto& one) {
                                       return text_of(one);
                                     }) | ranges::to<std::vector>(),
                                     ", "));
}

std::string text_of(const OtherStep& other) {
  const Totals& totals = other.totals;
  return fmt::format(
      "{} ({}): forward {}, backward {} in products, saved {}, peak {} allocated, {} reserved",
      other.step, text_of(other.optimizers), format_count(totals.fwd_flops, "FLOPs"),
      format_count(totals.bwd_flops, "FLOPs"), format_bytes(totals.saved_bytes),
      format_bytes(totals.peak_allocated_bytes), format_bytes(totals.peak_reserved_bytes));
}

void write_optimizers(JsonWriter& json, const std::vector<ProgramOptimizer>& optimizers) {
  json.key("optimizers");
  json.begin_array();
  for (const ProgramOptimizer& optimizer : optimizers) {
    json.begin_object();
    json.member("label", optimizer.label);
    json.member("name", optimizer.name);
    json.end_object();
  }
  json.end_array();
}

void write_other(JsonWriter& json, const OtherStep& other) {
  json.begin_object();
  json.member("step", static_cast<std::int64_t>(other.step));
  write_optimizers(json, other.optimizers);
  json.member("fwd_flops", other.totals.fwd_flops);
  json.member("bwd_flops", other.totals.bwd_flops);
  json.member("saved_bytes", other.totals.saved_bytes);
  json.member("peak_allocated_bytes", other.totals.peak_allocated_bytes);
  json.member("peak_reserved_bytes", other.totals.peak_reserved_bytes);
  json.end_object();
}

}  // namespace

void add_program_lines(std::vector<FooterLine>& lines, const Profile& profile,
                       const StepOptions& options) {
  if (!profile.program) return;
  const ProgramFacts& facts = *profile.program;
  const bool is_named = options.optimizer != Optimizer::none;  // In the line of options.
  const bool has_kinds = facts.optimizers.size() > (is_named ? 1U : 0U) || !facts.others.empty();
  if (facts.is_between)
    lines.push_back({"between", fmt::format("{} forward passes without gradients, before step {}",
                                            facts.between_passes, facts.step)});
  if (has_kinds) lines.push_back({"optimizers", text_of(facts.optimizers)});
  if (facts.passes > 1)
    lines.push_back({"passes", fmt::format("{} backward passes in the step: FLOPs are their sum, "
                                           "saved bytes and gradients are what is held at once",
                                           facts.passes)});
  if (!facts.is_between && facts.between_passes > 0)
    lines.push_back({"between", fmt::format("{} forward passes without gradients (evaluation, "
                                            "generation) before the step are not part of it; "
                                            "the option between reports them",
                                            facts.between_passes)});
  for (const OtherStep& other : facts.others) lines.push_back({"other step", text_of(other)});
}

void write_program(JsonWriter& json, const ProgramFacts& facts) {
  json.key("program");
  json.begin_object();
  json.member("step", static_cast<std::int64_t>(facts.step));
  json.member("steps", static_cast<std::int64_t>(facts.steps));
  json.member("passes", std::int64_t{facts.passes});
  json.member("between_passes", std::int64_t{facts.between_passes});
  json.member("is_between", facts.is_between);
  write_optimizers(json, facts.optimizers);
  json.key("other_steps");
  json.begin_array();
  for (const OtherStep& other : facts.others) write_other(json, other);
  json.end_array();
  json.end_object();
}

}  // namespace symprof::report
