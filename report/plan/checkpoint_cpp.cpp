#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "plan/checkpoint/answers.h"
#include "report/plan/checkpoint.h"
#include "report/plan/checkpoint_text.h"
#include "session/checkpoint_answer.h"

namespace symprof::report {
namespace {

/// symprof::checkpoint keeps only the inputs of one call.
void check_cpp_can(const CheckpointAnswer& answer, const CheckpointPlan& plan) {
  const bool is_simple = std::ranges::all_of(plan.regions, [](const CheckpointRegion& region) {
    return region.modules.size() == 1 && region.kept.empty();
  });
  if (!is_simple || !plan.offloaded.empty())
    throw Error(answer.model, "the best plan does more than recompute whole modules.",
                fmt::format("Ask for one that does not, with {}.", setting("whole")));
}

constexpr std::string_view cpp_head = R"(#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

)"
                                      "#include \"shape/step/checkpoint.h\"\n"
                                      R"(
namespace checkpoint_plan {

/// The modules whose activations backward computes again.
inline constexpr std::string_view modules[] = {)";

constexpr std::string_view cpp_tail = R"(};

inline bool runs_again(std::string_view module) {
  return std::find(std::begin(modules), std::end(modules), module) != std::end(modules);
}

/// The value of `forward(input)`, which is the forward pass of `module`.
inline at::Tensor run(std::string_view module, symprof::TensorFunction forward,
                      const at::Tensor& input) {
  return runs_again(module) ? symprof::checkpoint(std::move(forward), input) : forward(input);
}

inline std::vector<at::Tensor> run(std::string_view module, symprof::TensorsFunction forward,
                                   const std::vector<at::Tensor>& inputs) {
  return runs_again(module) ? symprof::checkpoint(std::move(forward), inputs) : forward(inputs);
}

}  // namespace checkpoint_plan
)";

}  // namespace

void write_checkpoint_cpp(fmt::memory_buffer& out, const CheckpointAnswer& answer) {
  const plan::PlanAnswer& one = answer.answers.front();
  if (!one.best) throw Error(answer.model, "there is no plan to write.", "Give a larger budget.");
  check_cpp_can(answer, one.best->plan);
  const auto at = std::back_inserter(out);
  fmt::format_to(at, "// {}\n//\n// {}\n", verdict(answer, one), figures_text(answer, *one.best));
  if (const std::vector<std::int64_t>& each = one.best->up_front_bytes; !each.empty())
    fmt::format_to(
        at, "// Before anything is on the device, allocate {} of {} bytes there and free {}.\n",
        each.size() == 1 ? "a tensor" : "tensors", fmt::join(each, ", "),
        each.size() == 1 ? "it" : "them all together");
  if (const std::string made = warm_start_text(answer); one.best->warm_start && !made.empty())
    fmt::format_to(at, "// Before the first step, {}.\n", made);
  fmt::format_to(at, "{}", cpp_head);
  const std::vector<CheckpointRegion>& regions = one.best->plan.regions;
  for (const CheckpointRegion& region : regions)
    fmt::format_to(at, "\n    \"{}\",", region.modules.front());
  if (regions.empty()) fmt::format_to(at, "std::string_view()");  // An array has an element.
  fmt::format_to(at, "{}{}", regions.empty() ? "" : "\n", cpp_tail);
}

}  // namespace symprof::report
