// Latency-bound kernels: batch norm sums, gradients of gathered rows, sorts, rolls; and 16-bit
// elements, which operators process at different rates.
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/launches.h"

namespace symprof::test::streamed_test {
namespace {

using namespace symprof::profile;

constexpr auto half = DType::bfloat16;

DeviceSpec round_device() {
  DeviceSpec device = modern_device();
  device.multiprocessors = 100, device.l2_bytes = 1 << 20;
  device.clock_hz = 1e9, device.memory_bytes_per_second = 4e12;
  return device;
}

/// Bytes that memory moves at 90 % of its bandwidth in `clocks`.
std::int64_t at_clocks(double clocks) { return std::llround(clocks * 3600); }

std::int64_t bytes_of(const Kernel& kernel) {
  const auto* rows = std::get_if<RowWork>(&kernel.work);
  return rows != nullptr ? rows->bytes : std::get<StreamWork>(kernel.work).bytes;
}

Kernel first_of(const char* op, const std::vector<TestArgument>& arguments, const TensorSpec& out) {
  return launches_of(op, arguments, {out}, round_device())->kernels.at(0);
}

}  // namespace

TEST_SUITE("streamed_launches") {
  TEST_CASE("a batch norm's sums are latency-bound with few channels") {
    const auto norm = [](std::int64_t rows, std::int64_t channels, DType dtype) {
      const TestArgument x = t({rows, channels}, dtype), scale = t({channels});
      return first_of("aten::native_batch_norm", {x, scale, scale, nothing(), nothing(), ints({1})},
                      tensor({rows, channels}, dtype));
    };
    const Kernel wide = norm(4096, 1024, half), narrow = norm(1 << 20, 2, half);
    CHECK(wide.time_class == TimeClass::batch_norm_native);
    // Of 4 Mi numbers, each taken at 0.9 clocks and moved twice.
    CHECK(bytes_of(wide) == 2 * 2 * (1 << 22) + at_clocks((1 << 22) * 0.9 / 100));
    CHECK(bytes_of(narrow) == 2 * 2 * (1 << 21) + at_clocks(512 * 1190));
    CHECK(bytes_of(norm(1 << 17, 2, half)) == 2 * 2 * (1 << 18) + at_clocks(64 * 600));  // In L2.
    CHECK(bytes_of(norm(1 << 20, 2, DType::float32)) == 2 * 4 * (1 << 21) + at_clocks(512 * 790));
  }

  TEST_CASE("small images slow a batch norm's blocks down") {
    const auto norm = [](std::int64_t side) {
      const TestArgument x = t({64, 512, side, side}, half), scale = t({512});
      return first_of("aten::native_batch_norm", {x, scale, scale, nothing(), nothing(), ints({1})},
                      tensor({64, 512, side, side}, half));
    };
    CHECK(norm(7).time_class == TimeClass::batch_norm_rows);
    CHECK(bytes_of(norm(7)) == 2 * 2 * 64 * 512 * 49 + at_clocks(64 * 512 * 49 * 3.8 / 100));
    CHECK(bytes_of(norm(14)) == 2 * 2 * 64 * 512 * 196 + at_clocks(64 * 512 * 196 * 1.1 / 100));
  }

  TEST_CASE("gradients of gathered rows are added sequentially, many are sorted first") {
    const auto gradient = [](std::int64_t rows, std::int64_t width, bool on_cpu = false) {
      DeviceSpec device = round_device();
      device.is_cpu = on_cpu;
      const TestArgument places = t({rows}, DType::int64);
      return launches_of("aten::embedding_dense_backward",
                         {t({rows, width}), places, ints({10}), ints({-1})}, {tensor({10, width})},
                         device)
          ->kernels.at(0);
    };
    // Minus a CPU's bytes, which adds them in order.
    const auto waits = [&](std::int64_t rows, std::int64_t width) {
      return bytes_of(gradient(rows, width)) - bytes_of(gradient(rows, width, true));
    };
    const Kernel in_turn = gradient(3072, 64), sorted = gradient(3073, 64);
    CHECK(in_turn.launches == 2);
    CHECK(sorted.launches == 15);
    CHECK(waits(3072, 64) == at_clocks(82 * 3072));
    CHECK(waits(100, 6400) == 2 * waits(100, 3200));  // Two waves of blocks of 32 columns.
    CHECK(bytes_of(sorted) > at_clocks(92000 + 3073 * 64 / (100 * 0.26)));
  }

  TEST_CASE("long rows are sorted in passes, and each dimension is rolled separately") {
    const auto sorted = [](std::int64_t length) {
      return bytes_of(first_of("aten::sort", {t({length}, DType::int64), ints({-1}), ints({0})},
                               tensor({length}, DType::int64)));
    };
    CHECK(sorted(4096) < at_clocks(85000));
    CHECK(sorted(4097) == at_clocks(85000));
    const Kernel rolled =
        first_of("aten::roll", {t({1000, 1000}, half), ints({3, 3}), ints({0, 1})},
                 tensor({1000, 1000}, half));
    CHECK(rolled.launches == 2);
    CHECK(bytes_of(rolled) == 2 * at_clocks(1e6 / (100 * 0.87)));
  }

  TEST_CASE("16-bit sums are faster than norms and maxima") {
    const std::int64_t rows = 1024, length = 4096;
    const auto bytes = [&](const char* op, std::vector<TestArgument> more, std::int64_t kept) {
      more.insert(more.begin(), t({rows, length}, half));
      return bytes_of(first_of(op, more, tensor({kept}, half)));
    };
    const auto at_rate = [&](double per_clock) {
      return at_clocks(rows * length / per_clock / 100);
    };
    CHECK(bytes("aten::sum", {ints({1})}, rows) == at_rate(13.5));
    CHECK(bytes("aten::linalg_vector_norm", {ints({2}), ints({1})}, rows) == at_rate(6.8));
    CHECK(bytes("aten::amax", {ints({1})}, rows) == at_rate(6.7));
    CHECK(bytes("aten::amax", {ints({0})}, length) >= at_rate(4.5));
  }
}

}  // namespace symprof::test::streamed_test
