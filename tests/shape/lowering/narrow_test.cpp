// Sub-byte numbers, FP8 without saturation, and powers of two.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "shape/lowering/narrow.h"
#include "shape/step/propagate.h"
#include "tests/support/torch/onnx_model.h"
#include "trace/onnx/reader.h"
#include "trace/passes/training_mode.h"

namespace symprof::narrow_test {
namespace {

using namespace symprof::testing;

// ONNX's TensorProto::DataType.
constexpr int to_float8_e4m3fn = 17, to_int4 = 22, to_float4 = 23, to_float8_e8m0 = 24,
              to_uint2 = 25;

/// `values` cast to the type and back.
at::Tensor through(int type, std::vector<double> values, const std::string& attributes = "") {
  const auto size = std::to_string(values.size());
  const auto count = static_cast<std::int64_t>(values.size());
  return run_one("g (float[" + size + "] x) => (float[" + size + "] y) { n = Cast <to = " +
                     std::to_string(type) + attributes + "> (x) y = Cast <to = 1> (n) }",
                 {reals(std::move(values), {count})}, 25);
}

}  // namespace

TEST_SUITE("onnx_narrow") {
  TEST_CASE("integers keep their lowest bits, sign-extended") {
    std::vector<double> given, signed_four, two;
    for (int i = -20; i <= 20; ++i) {
      given.push_back(i);
      signed_four.push_back(((i + 8) & 15) - 8);
      two.push_back(i & 3);
    }
    const auto count = static_cast<std::int64_t>(given.size());
    CHECK(through(to_int4, given).equal(reals(signed_four, {count})));
    CHECK(through(to_uint2, given).equal(reals(two, {count})));
  }

  TEST_CASE("FLOAT4E2M1 rounds to nearest, ties to even") {
    CHECK(through(to_float4, {0.25, 0.26, 0.75, 1.25, 1.76, 2.5, 3.5, 5, 5.1, 1e6, -0.75, -9})
              .equal(reals({0, 0.5, 1, 1, 2, 2, 4, 4, 6, 6, -1, -6}, {12})));
  }

  TEST_CASE("FLOAT8E8M0 is a power of two in the node's rounding mode") {
    const std::vector<double> given = {0.11, 1, 1.4, 1.6, 3};
    std::vector<double> up, down, nearest;
    for (const double value : given) {
      const double exponent = std::log2(value);
      up.push_back(std::exp2(std::ceil(exponent)));
      down.push_back(std::exp2(std::floor(exponent)));
      nearest.push_back(value >= 1.5 * down.back() ? up.back() : down.back());
    }
    CHECK(through(to_float8_e8m0, given).equal(reals(up, {5})));
    CHECK(through(to_float8_e8m0, given, R"(, round_mode = "down")").equal(reals(down, {5})));
    CHECK(through(to_float8_e8m0, given, R"(, round_mode = "nearest")").equal(reals(nearest, {5})));
  }

  TEST_CASE("without saturation, values beyond FLOAT8E4M3FN become NaN") {
    const at::Tensor y = through(to_float8_e4m3fn, {448, 464, 465, 1e6}, ", saturate = 0");
    CHECK(y.isnan().to(at::kLong).equal(longs({0, 0, 1, 1})));
    CHECK(through(to_float8_e4m3fn, {465, 1e6, -1e6}).equal(reals({448, 448, -448}, {3})));
  }

  TEST_CASE("4-bit weights are scaled by block") {
    const at::Tensor x = reals({-7, 3, 5, -8, 1, 2, 4, 6}, {4, 2}),
                     scale = reals({0.5, 2, 4, 8}, {2, 2});
    const at::Tensor y = run_one(R"(g (float[4,2] x, float[2,2] s) => (float[4,2] y)
      { q = Cast <to = 22> (x) y = DequantizeLinear <axis = 0, block_size = 2> (q, s) })",
                                 {x, scale}, 21);
    CHECK(y.equal(x * scale.repeat_interleave(2, 0)));
  }

  TEST_CASE("two 4-bit numbers share a byte on the device") {
    constexpr std::int64_t count = 65;
    const Graph graph = trace::parse_onnx_text(R"(<ir_version: 10, opset_import: ["" : 21]>
      g (int4[65] q, float s) => (float[65] y) { y = DequantizeLinear(q, s) })",
                                               "test");
    const Recording recording = shape::propagate(graph, {.mode = Mode::eval});
    std::vector<std::int64_t> bytes;
    for (const StorageRecord& storage : recording.storages)
      if (storage.kind == StorageKind::input) bytes.push_back(storage.bytes);
    CHECK(bytes == std::vector<std::int64_t>{(count + 1) / 2, 4});
  }

  TEST_CASE("converting the model's dtype leaves quantized numbers unchanged") {
    Graph graph = trace::parse_onnx_text(R"(<ir_version: 10, opset_import: ["" : 23]>
      g (float4e2m1[8] q, float8e4m3fn[8] r, float[8] x) => (float[8] y) { y = Identity(x) })",
                                         "test");
    trace::cast_floating_point(graph, DType::bfloat16);
    const auto dtype = [&](std::size_t i) {
      return graph.values[static_cast<std::size_t>(graph.inputs[i])].spec->dtype;
    };
    CHECK(dtype(0) == DType::float4_e2m1);
    CHECK(dtype(1) == DType::float8_e4m3fn);
    CHECK(dtype(2) == DType::bfloat16);
  }
}

}  // namespace symprof::narrow_test
