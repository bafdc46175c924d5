#include "plan/parallel/layout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "plan/parallel/scaled_kernel.h"
#include "plan/parallel/step_model.h"

using namespace symprof;
using namespace symprof::plan;

namespace {

/// The time of the slowest stage in the best cut, by enumeration.
double least_by_trying(const std::vector<double>& us, std::size_t begin, std::size_t stages) {
  const auto sum = [&](std::size_t end) {
    return std::accumulate(us.begin() + static_cast<std::ptrdiff_t>(begin),
                           us.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
  };
  if (stages == 1) return sum(us.size());
  double best = std::numeric_limits<double>::max();
  for (std::size_t end = begin + 1; end + stages - 1 <= us.size(); ++end)
    best = std::min(best, std::max(sum(end), least_by_trying(us, end, stages - 1)));
  return best;
}

double slowest(const std::vector<double>& us, const std::vector<std::size_t>& ends) {
  double most = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    CHECK(begin < ends[i]);
    most = std::max(most, std::accumulate(us.begin() + static_cast<std::ptrdiff_t>(begin),
                                          us.begin() + static_cast<std::ptrdiff_t>(ends[i]), 0.0));
  }
  return most;
}

}  // namespace

TEST_SUITE("layout") {
  TEST_CASE("a layout is parsed as it is formatted") {
    for (const char* text :
         {"ddp=8", "fsdp=4 tp=2:sp", "hsdp=2x4 mb=2 ckpt=3", "pp=4:1f1b:mb=8",
          "fsdp=2 tp=2 pp=2:interleaved:mb=4", "pp=2:zero-bubble:mb=4", "tp=8"}) {
      CAPTURE(text);
      const LayoutFilter filter = parse_layout(text);
      ParallelLayout layout;
      layout.mode = filter.mode.value_or(DataMode::copies);
      layout.data = filter.data.value_or(1);
      layout.shard = layout.mode == DataMode::shards ? layout.data : filter.shard.value_or(1);
      layout.tensor = filter.tensor.value_or(1);
      layout.sequence = filter.sequence.value_or(false);
      layout.pipeline = filter.pipeline.value_or(1);
      layout.schedule = filter.schedule.value_or(PipelineKind::one_f_one_b);
      layout.microbatches = filter.microbatches.value_or(1);
      layout.checkpointed = filter.checkpointed.value_or(0);
      CHECK(text_of(layout) == text);
      CHECK(filter.allows(layout));
      layout.tensor *= 2;
      CHECK(filter.allows(layout) == !filter.tensor.has_value());
    }
    for (const char* text :
         {"fsdp", "fsdp=0", "fsdp=x", "hsdp=8", "pp=2:nothing", "pp=2:zbv", "cp=2", "tp=-1"}) {
      CAPTURE(text);
      CHECK_THROWS_AS(parse_layout(text), Error);
    }
    CHECK(parse_layout("").allows({}));
  }

  TEST_CASE("stages minimize the time of the slowest one") {
    const std::vector<double> chains[] = {
        {1, 1, 1, 1}, {9, 1, 1, 1, 1}, {1, 2, 3, 4, 5, 6}, {5, 1, 5, 1, 5, 1}, {3, 3, 3, 8}};
    for (const std::vector<double>& us : chains)
      for (std::size_t stages = 1; stages <= us.size(); ++stages)
        CHECK(slowest(us, balanced_stages(us, stages)) == least_by_trying(us, 0, stages));
  }

  TEST_CASE("a linear layer's kernels scale only the weight's split dimension") {
    const TensorSpec weight{.sizes = {32, 16}};
    const profile::Kernel forward{profile::TimeClass::product_16bit,
                                  profile::ProductWork{.m = 8, .n = 32, .k = 16}};
    const auto sizes = [&](const KernelScale& scale) {
      const auto work = std::get<profile::ProductWork>(scaled(forward, scale).work);
      return std::vector{work.m, work.n, work.k};
    };
    using Numbers = std::vector<std::int64_t>;
    CHECK(sizes({.samples = 2, .share = 1, .weight = &weight}) == Numbers{16, 32, 16});
    CHECK(sizes({.samples = 1, .share = 0.5, .weight = &weight}) == Numbers{8, 16, 16});
    CHECK(sizes({.samples = 1, .share = 0.5, .weight = &weight, .splits_outputs = false}) ==
          Numbers{8, 32, 8});
    const profile::Kernel function{profile::TimeClass::function,
                                   profile::FunctionWork{profile::Function::tanh, 1000, 8000}};
    CHECK(std::get<profile::FunctionWork>(scaled(function, {.samples = 2, .share = 0.25}).work) ==
          profile::FunctionWork{profile::Function::tanh, 500, 4000});
    const profile::Kernel stream{profile::TimeClass::elementwise, profile::StreamWork{1000}};
    CHECK(std::get<profile::StreamWork>(scaled(stream, {.samples = 2, .share = 0.25}).work).bytes ==
          500);
  }
}
