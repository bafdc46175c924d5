#include "plan/fit.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/support/recording_builder.h"
#include "trace/onnx/reader.h"

namespace symprof::test {
namespace {

using plan::Budget;
using plan::find_largest_size;
using plan::LargestSize;
using profile::operator""_MiB;

/// One call whose output of `bytes` lives until the step ends.
Recording step_of(std::int64_t bytes) {
  RecordingBuilder builder;
  const NodeId node = builder.node("node");
  const StorageId made = builder.storage({.bytes = bytes});
  builder.event(EventKind::allocate, made, builder.call("aten::relu", {}, {}, node));
  builder.event(EventKind::free, made, builder.call("aten::relu", {}, {}, node));
  return builder.recording();
}

}  // namespace

TEST_SUITE("fit") {
  TEST_CASE("the largest size does not depend on where the search starts") {
    for (const std::int64_t border : {1, 2, 3, 7, 64, 1000}) {
      for (const std::int64_t start : {1, 5, 64, 5000}) {
        std::set<std::int64_t> tried;
        const LargestSize largest = find_largest_size(start, std::nullopt, [&](std::int64_t size) {
          CHECK(tried.insert(size).second);  // A step is run once for each size.
          return size <= border;
        });
        CHECK(largest.fits == border);
        CHECK(largest.refused == border + 1);
        CHECK(largest.trials == static_cast<int>(tried.size()));
        CHECK(largest.trials <= 25);  // Doublings and bisections.
      }
    }
  }

  TEST_CASE("the search ends at the graph's range, or empty") {
    const LargestSize all = find_largest_size(3, 50, [](std::int64_t) { return true; });
    CHECK(all.fits == 50);
    CHECK_FALSE(all.refused);
    const LargestSize none_fits = find_largest_size(8, 50, [](std::int64_t) { return false; });
    CHECK_FALSE(none_fits.fits);
    CHECK(none_fits.refused == 1);
  }

  TEST_CASE("the margin for uncertain lifetimes is set aside") {
    RecordingBuilder builder;
    const StorageId early = builder.storage(
        {.bytes = 40_MiB, .may_live_until = 1, .uncertainty = LifetimeUncertainty::function});
    const StorageId late = builder.storage({.bytes = 60_MiB});
    for (const StorageId made : {early, late}) {
      const CallId call = builder.call("aten::relu", {}, {}, builder.node("node"));
      builder.event(EventKind::allocate, made, call);
      builder.event(EventKind::free, made, call);
    }
    const auto fit_into = [&](std::int64_t bytes) {
      return plan::fit(builder.recording(), {}, {.device_bytes = bytes}, {});
    };
    const plan::Fit fit = fit_into(200_MiB);
    CHECK(fit.wanted.uncertainty.is_lower_bound());
    CHECK(fit.set_aside_bytes == 40_MiB);
    CHECK(fit.margin_bytes({.device_bytes = 200_MiB}) ==
          200_MiB - 40_MiB - fit.wanted.peak_reserved_bytes);
    CHECK(fit_into(fit.wanted.peak_reserved_bytes + 40_MiB).fits());
    CHECK_FALSE(fit_into(60_MiB + 39_MiB).fits());
    CHECK(fit.fits_at_most == true);
    CHECK(fit.fits_if_likely == true);
  }

  TEST_CASE("training calls of ONNX may miss a quarter of the held bytes") {
    RecordingBuilder builder;
    const NodeId node = builder.node("product");
    builder[node].op = "onnx::MatMul";
    const StorageId weight = builder.storage({.bytes = 20_MiB, .kind = StorageKind::parameter});
    const StorageId output = builder.storage({.bytes = 40_MiB, .saved = true});
    builder.event(EventKind::allocate, weight, none);
    builder.event(EventKind::allocate, output, builder.call("aten::mm", {}, {}, node));
    const auto fit_into = [&](std::int64_t bytes) {
      return plan::fit(builder.recording(), {}, {.device_bytes = bytes}, {});
    };
    builder.recording().traits = trace::onnx_traits;
    CHECK_FALSE(fit_into(200_MiB).fits_with_other_calls);  // Not in training.
    builder.event(EventKind::free, output, builder.call("aten::mm", {}, {}, node, Phase::backward));
    CHECK(fit_into(200_MiB).other_calls_bytes == 40_MiB / 4);
    CHECK(fit_into(60_MiB + 10_MiB).fits_with_other_calls == true);
    CHECK(fit_into(60_MiB + 9_MiB).fits_with_other_calls == false);
    CHECK(fit_into(60_MiB + 9_MiB).fits());
    builder[node].op = "onnx::Conv";
    CHECK_FALSE(fit_into(200_MiB).fits_with_other_calls);
  }

  TEST_CASE("the margin is device memory minus reserved memory") {
    const Budget budget{.device_bytes = 100_MiB, .context_bytes = 20_MiB};
    const plan::Fit fit = plan::fit(step_of(60_MiB), {}, budget, {});
    CHECK(fit.fits());
    CHECK_FALSE(fit.is_tight());
    CHECK(fit.margin_bytes(budget) == 100_MiB - 20_MiB - 60_MiB);
    CHECK(plan::fits(step_of(60_MiB), {}, budget, {}));
  }

  TEST_CASE("an out-of-memory names its call and the missing bytes") {
    const Budget budget{.device_bytes = 50_MiB, .context_bytes = 10_MiB};
    const plan::Fit fit = plan::fit(step_of(60_MiB), {}, budget, {});
    CHECK_FALSE(fit.fits());
    CHECK(fit.there.refused_call == 0);
    CHECK(fit.margin_bytes(budget) == 40_MiB - 60_MiB);
    CHECK_FALSE(plan::fits(step_of(60_MiB), {}, budget, {}));
  }

  TEST_CASE("a loop that fits only by releasing cached memory is tight") {
    RecordingBuilder builder;
    const NodeId node = builder.node("node");
    for (const std::int64_t size : {30_MiB, 40_MiB}) {
      const StorageId made = builder.storage({.bytes = size});
      builder.event(EventKind::allocate, made, builder.call("aten::relu", {}, {}, node));
      builder.event(EventKind::free, made, builder.call("aten::relu", {}, {}, node));
    }
    const Budget budget{.device_bytes = 50_MiB};
    const plan::Fit fit = plan::fit(builder.recording(), {}, budget, {});
    CHECK(fit.wanted.peak_reserved_bytes == 70_MiB);
    CHECK(fit.is_tight());
    CHECK(fit.there.peak_reserved_bytes == 40_MiB);
  }
}

}  // namespace symprof::test
