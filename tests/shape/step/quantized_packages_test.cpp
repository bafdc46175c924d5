// Quantized operators that Python packages leave whole in an export: the calls that they make.
#include <doctest/doctest.h>

#include "tests/support/torch/exported_profile.h"
#include "tests/support/torch/graph_builder.h"

namespace symprof::quantized_packages_test {
namespace {

using test::contiguous;
using test::GraphBuilder;

constexpr std::int64_t rows = 6, columns = 64, channels = 4;

/// The profile of a graph whose only node has the outputs `made` of `op`.
Profile profile_of_call(const std::string& op,
                        std::vector<std::pair<std::string, TensorSpec>> given,
                        std::vector<ArgumentValue> others, int made = 1) {
  GraphBuilder b;
  std::vector<Argument> arguments;
  for (auto& [name, spec] : given) arguments.push_back({"", ValueRef{b.input(name, spec)}});
  for (ArgumentValue& other : others) arguments.push_back({"", std::move(other)});
  Node node{.name = "n", .op = op, .overload = "default", .arguments = std::move(arguments)};
  for (int i = 0; i < made; ++i) {
    node.outputs.push_back(b.graph.add_value({.name = "y" + std::to_string(i)}));
    b.graph.outputs.push_back(node.outputs.back());
  }
  b.graph.nodes.push_back(std::move(node));
  StepOptions options;
  options.mode = Mode::inference;
  return test::profile_of(b.graph, options);
}

std::vector<TensorSpec> outputs_of(const Profile& profile) {
  std::vector<TensorSpec> specs;
  for (const CallRecord& call : profile.recording.calls)
    for (const TensorRecord& output : call.outputs)
      if (output.spec != none)
        specs.push_back(profile.recording.specs.at(static_cast<std::size_t>(output.spec)));
  return specs;
}

void check(const Profile& profile, std::int64_t other_flops, const TensorSpec& last) {
  CHECK(profile.coverage.unmodelled_ops.empty());
  CHECK(profile.totals.fwd_flops == 0);
  CHECK(profile.totals.fwd_flops_all == other_flops);
  const auto specs = outputs_of(profile);
  REQUIRE(!specs.empty());
  CHECK(specs.back().dtype == last.dtype);
  CHECK(specs.back().sizes == last.sizes);
}

}  // namespace

TEST_SUITE("quantized_packages") {
  TEST_CASE("pt2e: scaled, rounded, moved and clamped, then a cast; back: moved and scaled") {
    const TensorSpec real = contiguous({rows, columns});
    const TensorSpec bytes = contiguous({rows, columns}, DType::uint8);
    const std::int64_t count = rows * columns;
    check(profile_of_call("quantized_decomposed::quantize_per_tensor", {{"x", real}},
                          {0.1, std::int64_t{3}, std::int64_t{0}, std::int64_t{255}, DType::uint8}),
          5 * count, bytes);
    check(profile_of_call("quantized_decomposed::dequantize_per_tensor", {{"x", bytes}},
                          {0.1, std::int64_t{3}, std::int64_t{0}, std::int64_t{255}, DType::uint8}),
          2 * count, real);
  }

  TEST_CASE("pt2e by channel: one reciprocal for each channel") {
    const TensorSpec weight = contiguous({channels, columns});
    const TensorSpec codes = contiguous({channels, columns}, DType::int8);
    const TensorSpec scales = contiguous({channels});
    const TensorSpec zeros = contiguous({channels}, DType::int64);
    const std::int64_t count = channels * columns;
    const std::vector<ArgumentValue> limits{std::int64_t{0}, std::int64_t{-128}, std::int64_t{127},
                                            DType::int8};
    check(profile_of_call("quantized_decomposed::quantize_per_channel",
                          {{"x", weight}, {"s", scales}, {"z", zeros}}, limits),
          5 * count + channels, codes);
    check(profile_of_call("quantized_decomposed::dequantize_per_channel",
                          {{"x", codes}, {"s", scales}, {"z", zeros}}, limits),
          2 * count, weight);
  }

  TEST_CASE("torchao: extremes of each block, and both numbers of it") {
    const std::int64_t count = rows * columns;
    const std::vector<std::int64_t> block{1, columns};
    const Profile chosen =
        profile_of_call("torchao::choose_qparams_affine", {{"x", contiguous({rows, columns})}},
                        {std::string("SYMMETRIC"), block, DType::int8, std::int64_t{-128},
                         std::int64_t{127}, 1e-5, DType::float32, DType::int8, true},
                        2);
    // Both extremes, each against 0, the larger magnitude, a division and a limit.
    check(chosen, 2 * count + 6 * rows, contiguous({rows, 1}, DType::int8));
  }

  TEST_CASE("torchao: blocks within a row have a number each") {
    constexpr std::int64_t size = 16;
    const std::vector<std::int64_t> block{1, size};
    GraphBuilder b;
    const ValueId x = b.input("x", contiguous({rows, columns}, DType::int8));
    const ValueId scale = b.input("scale", contiguous({rows, columns / size}));
    b.graph.outputs = {b.call("torchao::dequantize_affine", "default",
                              {ValueRef{x}, block, ValueRef{scale}, NoArgument{}, DType::int8})};
    StepOptions options;
    options.mode = Mode::inference;
    check(test::profile_of(b.graph, options), rows * columns, contiguous({rows, columns}));
  }
}

}  // namespace symprof::quantized_packages_test
