// Kernels launched by calls, and their work: sizes by hand, launch counts recorded from PyTorch's
// CUDA build.
#include <doctest/doctest.h>

#include <cmath>
#include <tuple>

#include "profile/operators/operators.h"
#include "tests/support/launches.h"

namespace symprof::test::launches_test {

using namespace symprof::profile;

constexpr auto half = DType::bfloat16;

TEST_SUITE("launches") {
  TEST_CASE("time rules belong to operators with FLOP rules") {
    int with_times = 0;
    for (const Operator& one : operators()) {
      INFO(one.op);
      if (one.launches == nullptr) continue;
      CHECK(one.flops != nullptr);
      ++with_times;
    }
    CHECK(with_times > 400);
  }

  TEST_CASE("unvectorized and compute-bound kernels take the time of equivalent bytes") {
    DeviceSpec device = modern_device();
    device.multiprocessors = 100;
    device.clock_hz = 2e9, device.memory_bytes_per_second = 5e12;
    constexpr std::int64_t rows = 300, length = 64, count = rows * length;
    // A kernel reaches 90 % of the bandwidth, multiprocessors process elements per clock.
    const auto at_rate = [&](double per_clock) {
      return std::llround(count * 5e12 * 0.9 / (100 * 2e9 * per_clock));
    };
    const std::int64_t one_by_one = at_rate(1.5);
    const TensorSpec out = tensor({rows, length}, half);
    const auto bytes_of = [&](const std::string& op, std::vector<TestArgument> arguments,
                              const TensorSpec& result) {
      return std::get<StreamWork>(launches_of(op, arguments, {result}, device)->kernels[0].work)
          .bytes;
    };
    const TestArgument x = t({rows, length}, half), wide = t({rows, length});
    CHECK(bytes_of("aten::gelu", {x}, out) == at_rate(3.1));
    CHECK(bytes_of("aten::gelu_backward", {x, x}, out) == at_rate(2.35));
    CHECK(bytes_of("aten::gelu", {wide}, tensor({rows, length})) == 2 * 4 * count);
    CHECK(bytes_of("aten::tanh", {x}, out) == 2 * 2 * count);
    CHECK(bytes_of("aten::native_dropout", {x}, out) == 2 * 2 * count + at_rate(6));
    CHECK(bytes_of("aten::_foreach_neg_", {x}, out) == 2 * 2 * count + at_rate(14.5));
    CHECK(bytes_of("aten::add", {t({rows, length}, half), t({rows, length}, half)}, out) ==
          3 * 2 * count);
    CHECK(bytes_of("aten::add", {t({rows, length}, half), t({length}, half)}, out) == one_by_one);
    CHECK(bytes_of("aten::mul", {t({rows, length}, half), t({}, half)}, out) == one_by_one);
    RecordingBuilder b;
    const TensorRecord number = b.fresh(tensor({}), {.on_device = false});
    b.call_on("aten::mul", {b.fresh(out), number}, {b.fresh(out)}, b.node("node"));
    CHECK(std::get<StreamWork>(launches_of(b, device)->kernels[0].work).bytes == 2 * 2 * count);
    // Masks and comparison results have their own dtype, without a cast.
    const TestArgument mask = t({rows, length}, DType::boolean);
    CHECK(bytes_of("aten::where", {mask, x, x}, out) == (1 + 3 * 2) * count);
    CHECK(bytes_of("aten::lt", {wide, wide}, tensor({rows, length}, DType::boolean)) ==
          (4 + 4 + 1) * count);
    CHECK(bytes_of("aten::mul", {x, mask}, out) == one_by_one);
    CHECK(bytes_of("aten::_to_copy", {t({rows, length}, half)}, tensor({rows, length})) ==
          one_by_one);
    // This cast has a vectorized kernel.
    CHECK(bytes_of("aten::_to_copy", {t({rows, length})}, out) == (4 + 2) * count);
  }

  TEST_CASE("attention: heads, grouped heads, mask and direction") {
    const auto flash = launches_of("aten::_scaled_dot_product_flash_attention",
                                   {t({2, 8, 10, 64}, half), t({2, 4, 20, 64}, half),
                                    t({2, 4, 20, 64}, half), nothing(), ints({1})},
                                   {tensor({2, 8, 10, 64}, half)});
    const AttentionWork work{.batch = 2,
                             .heads = 8,
                             .kv_heads = 4,
                             .queries = 10,
                             .keys = 20,
                             .head_dim = 64,
                             .causal = true};
    CHECK(flash->kernels == std::vector<Kernel>{{TimeClass::attention_flash, work}});
    const TestArgument same = t({2, 8, 10, 64});
    const auto backward =
        launches_of("aten::_scaled_dot_product_efficient_attention_backward",
                    {same, same, same, same, nothing(), same, t({2, 8, 10}), nothing(), nothing(),
                     nothing(), ints({1, 1, 1, 0}), ints({0})},
                    {tensor({2, 8, 10, 64}), tensor({2, 8, 10, 64}), tensor({2, 8, 10, 64})});
    CHECK(backward->kernels[0].time_class == TimeClass::attention_fp32);
    CHECK(backward->kernels[0].launches == 3);
    CHECK(std::get<AttentionWork>(backward->kernels[0].work).backward);
  }

  TEST_CASE("on a CPU attention's backward and functions have their own classes") {
    DeviceSpec cpu = device_with({"float32"});
    cpu.is_cpu = true;
    const TestArgument same = t({2, 8, 10, 64});
    const auto backward =
        launches_of("aten::_scaled_dot_product_efficient_attention_backward",
                    {same, same, same, same, nothing(), same, t({2, 8, 10}), nothing(), nothing(),
                     nothing(), ints({1, 1, 1, 0}), ints({0})},
                    {tensor({2, 8, 10, 64}), tensor({2, 8, 10, 64}), tensor({2, 8, 10, 64})}, cpu);
    CHECK(backward->kernels[0].time_class == TimeClass::attention_backward);
    const auto function = [&](const char* op, std::vector<TestArgument> more = {},
                              const DeviceSpec& device = modern_device()) {
      more.insert(more.begin(), t({3, 5}));
      return launches_of(op, more, {tensor({3, 5})}, device)->kernels.at(0);
    };
    const auto work = [](Function one, std::int64_t bytes) {
      return Kernel{TimeClass::function, FunctionWork{one, 15, 15 * bytes}};
    };
    CHECK(function("aten::tanh", {}, cpu) == work(Function::tanh, 8));
    CHECK(function("aten::tanh") == Kernel{TimeClass::elementwise, StreamWork{120}});
    // A string is a number in recordings: whether it is another than the schema's default.
    CHECK(function("aten::gelu", {ints({0})}, cpu) == work(Function::gelu, 8));
    CHECK(function("aten::gelu", {ints({1})}, cpu) == work(Function::gelu_tanh, 8));
    CHECK(function("aten::gelu_backward", {t({3, 5}), ints({1})}, cpu) ==
          work(Function::gelu_tanh_backward, 12));
    CHECK(function("aten::pow", {}, cpu).time_class == TimeClass::elementwise);
    CHECK(function("aten::pow", {t({3, 5})}, cpu) == work(Function::pow, 12));
  }

  TEST_CASE("rows of a norm are as long as its weight; its backward is two kernels") {
    const auto forward = launches_of("aten::native_layer_norm",
                                     {t({4, 6, 10}), ints({10}), t({10}), t({10}), nothing()},
                                     {tensor({4, 6, 10}), tensor({4, 6, 1}), tensor({4, 6, 1})});
    const auto& rows = std::get<RowWork>(forward->kernels[0].work);
    CHECK(rows.rows == 24);
    CHECK(rows.length == 10);
    const auto backward = launches_of("aten::native_layer_norm_backward",
                                      {t({4, 6, 10}), t({4, 6, 10}), ints({10}), t({4, 6, 1}),
                                       t({4, 6, 1}), t({10}), t({10}), ints({1, 1, 1})},
                                      {tensor({4, 6, 10}), tensor({10}), tensor({10})});
    CHECK(backward->kernels[0].launches == 2);
  }

  TEST_CASE("an RMS norm's forward has its own class if rows are whole vectors") {
    const auto norm_of = [](std::int64_t length, DType dtype, const DeviceSpec& device) {
      return launches_of("aten::_fused_rms_norm",
                         {t({4, length}, dtype), ints({length}), t({length}, dtype), nothing()},
                         {tensor({4, length}, dtype), tensor({4, 1})}, device)
          ->kernels;
    };
    DeviceSpec cpu;
    cpu.is_cpu = true;
    const auto vectors = norm_of(12, DType::float32, modern_device());
    REQUIRE(vectors.size() == 1);
    CHECK(vectors[0].time_class == TimeClass::rms_norm);
    CHECK(std::get<RowWork>(vectors[0].work).length == 12);
    CHECK(norm_of(10, DType::float32, modern_device())[0].time_class == TimeClass::layer_norm);
    CHECK(norm_of(12, DType::float64, modern_device())[0].time_class == TimeClass::layer_norm);
    CHECK(norm_of(12, DType::float32, cpu)[0].time_class == TimeClass::layer_norm);
  }

  TEST_CASE("group norm: moments, then element-wise; a copy for channels last") {
    const auto norm_of = [](bool channels_last, const DeviceSpec& device) {
      TestArgument x = t({2, 64, 8, 8}, half);
      if (channels_last) x.tensors[0].strides = {64 * 64, 1, 8 * 64, 64};
      return launches_of(
                 "aten::native_group_norm",
                 {x, t({64}, half), t({64}, half), ints({2}), ints({64}), ints({64}), ints({4})},
                 {tensor({2, 64, 8, 8}, half), tensor({2, 4}), tensor({2, 4})}, device)
          ->kernels;
    };
    const auto rows = norm_of(false, modern_device());
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].time_class == TimeClass::reduction);
    CHECK(std::get<RowWork>(rows[0].work).rows == 2 * 4);
    CHECK(std::get<RowWork>(rows[0].work).length == 16 * 64);
    CHECK(rows[0].launches + rows[1].launches == 3);
    CHECK(rows[1].time_class == TimeClass::elementwise);
    const auto last = norm_of(true, modern_device());
    REQUIRE(last.size() == 3);
    CHECK(last[2].time_class == TimeClass::copy);
    DeviceSpec cpu;
    cpu.is_cpu = true;
    CHECK(norm_of(false, cpu)[0].time_class == TimeClass::layer_norm);
  }

  TEST_CASE("group norm's backward has latency-bound channel blocks, and element blocks") {
    DeviceSpec device = modern_device();
    device.clock_hz = 1e9, device.memory_bytes_per_second = 1e12, device.multiprocessors = 100;
    const auto sums_of = [&](std::int64_t images, std::int64_t area) {
      const Sizes sizes = {images, 64, area};
      const auto kernels =
          launches_of("aten::native_group_norm_backward",
                      {t(sizes), t(sizes), t({images, 4}), t({images, 4}), t({64}), ints({images}),
                       ints({64}), ints({area}), ints({4}), ints({1, 1, 1})},
                      {tensor(sizes), tensor({64}), tensor({64})}, device)
              ->kernels;
      CHECK(kernels.size() == 2);
      CHECK(kernels[0].launches + kernels[1].launches == 5);
      return std::get<RowWork>(kernels[0].work);
    };
    CHECK(sums_of(2, 100).rows == 2 * 64);
    CHECK(sums_of(2, 100).length == 100);
    // 128 warps and 2 images are latency-bound; elements take less than their bytes.
    const double waits = 128 * 123 / 100.0 + 2 * 590;
    const auto bytes = static_cast<double>(sums_of(2, 100).bytes);
    CHECK(bytes - waits / 1e9 * 1e12 * 0.9 == doctest::Approx(2 * 4 * 2 * 64 * 100).epsilon(0.01));
    CHECK(sums_of(2, 512).bytes - sums_of(2, 511).bytes > 128 * (520 - 123) / 100 * 900);
  }

  TEST_CASE("a norm's weight gradient loops over its rows, or is split if they are many") {
    DeviceSpec device = modern_device();
    device.clock_hz = 1e9, device.memory_bytes_per_second = 1e12;
    const auto backward = [&](std::int64_t rows, std::int64_t columns) {
      return launches_of("aten::native_layer_norm_backward",
                         {t({rows, columns}), t({rows, columns}), ints({columns}), t({rows, 1}),
                          t({rows, 1}), t({columns}), t({columns}), ints({1, 1, 1})},
                         {tensor({rows, columns}), tensor({columns}), tensor({columns})}, device)
          ->kernels;
    };
    const auto bytes = [](const Kernel& kernel) { return std::get<RowWork>(kernel.work).bytes; };
    // Twice the rows with half the columns: equal bytes, twice the iterations.
    const auto wide = backward(25600, 64), narrow = backward(51200, 32);
    REQUIRE(wide.size() == 1);
    REQUIRE(narrow.size() == 1);
    const std::int64_t saved = 4 * 2 * 25600, weights = 4 * 2 * 32;
    const double turns = 51200 / 256 - 25600 / 256;
    CHECK(static_cast<double>(bytes(narrow[0]) - bytes(wide[0]) - saved + 2 * weights) ==
          doctest::Approx(turns * 2000 / 1e9 * 1e12 * 0.9).epsilon(0.01));
    const auto split = backward(65536 + 32, 64);
    REQUIRE(split.size() == 3);
    CHECK(split[1].time_class == TimeClass::reduction);
    CHECK(split[1] == split[2]);
  }

  TEST_CASE("softmax rows follow its dimension, its backward takes twice the passes") {
    const auto forward =
        launches_of("aten::_softmax", {t({4, 6, 10}), ints({1}), ints({0})}, {tensor({4, 6, 10})});
    CHECK(std::get<RowWork>(forward->kernels[0].work) ==
          RowWork{.rows = 40, .length = 6, .bytes = 2 * 4 * 240});
    const auto backward =
        launches_of("aten::_softmax_backward_data",
                    {t({4, 6, 10}), t({4, 6, 10}), ints({-1}), nothing()}, {tensor({4, 6, 10})});
    CHECK(std::get<RowWork>(backward->kernels[0].work).bytes == 2 * 3 * 4 * 240);
    CHECK(backward->kernels[0].launches == 2);
  }

  TEST_CASE("a foreach kernel has a limit of tensors and of blocks") {
    const auto launches = [](std::size_t tensors, std::int64_t numbers) {
      const std::vector<Sizes> all(tensors, Sizes{numbers});
      return launches_of("aten::_foreach_add_", {list(all), list(all)}, {})->kernels[0].launches;
    };
    CHECK(launches(448, 10) == 1);
    CHECK(launches(449, 10) == 2);
    CHECK(launches(1, 65536 * 2240) == 1);
    CHECK(launches(1, 65536 * 2240 + 1) == 2);
  }

  TEST_CASE("short rows share a block, long ones have one each") {
    const auto rows_of = [](std::int64_t results, std::int64_t length) {
      const auto launches =
          launches_of("aten::sum", {t({results, length}), ints({1})}, {tensor({results})});
      return std::get<RowWork>(launches->kernels[0].work);
    };
    CHECK(rows_of(1000, 2).rows == (1000 + 255) / 256);
    CHECK(rows_of(1000, 2).length == 512);
    CHECK(rows_of(1000, 512).rows == 1000);
    CHECK(rows_of(10, 4096).length == 4096);
  }

  TEST_CASE("a column sum has PyTorch's grid, and adds partial sums sequentially") {
    DeviceSpec device = modern_device();
    device.multiprocessors = 132;
    device.clock_hz = 1e9, device.memory_bytes_per_second = 1e12;
    const auto work_of = [&](std::int64_t rows, std::int64_t columns) {
      const auto launches =
          launches_of("aten::sum", {t({rows, columns}), ints({0})}, {tensor({columns})}, device);
      return std::get<RowWork>(launches->kernels[0].work);
    };
    const auto waited = [&](std::int64_t rows, std::int64_t columns) {
      const auto bytes = static_cast<double>(work_of(rows, columns).bytes);
      return (bytes - 4.0 * static_cast<double>(rows * columns)) / 0.9e12 * 1e9;
    };
    // Grids that an H200 launched (truth/h200/kernel_record, convnext_tiny_autocast): [x, y] blocks
    // of z threads in y.
    struct Grid {
      std::int64_t rows, columns, x, y, z;
    };
    for (const auto& [rows, columns, x, y, z] :
         {Grid{50176, 192, 2, 784, 4}, Grid{200704, 384, 3, 704, 4}, Grid{200704, 96, 2, 1056, 8},
          Grid{12544, 1536, 12, 176, 4}, Grid{3136, 3072, 24, 49, 4}, Grid{64, 1000, 8, 1, 4}}) {
      CHECK(work_of(rows, columns).rows == x * y);
      CHECK(work_of(rows, columns).length == rows * columns / (x * y));
      const auto parts = static_cast<double>(y > 1 ? (y + z - 1) / z : 0);
      const double shared = parts > 0 ? 6500 : 0;
      CHECK(waited(rows, columns) == doctest::Approx(shared + 450 * parts).epsilon(1e-3));
    }
    // (value, index) pairs take as long in 16 bit: 3.6 per clock along rows.
    device.memory_bytes_per_second = 4e12;
    const auto pairs =
        launches_of("aten::argmax", {t({64, 4096}, half), ints({1})}, {tensor({64})}, device);
    CHECK(static_cast<double>(std::get<RowWork>(pairs->kernels[0].work).bytes) ==
          doctest::Approx(64 * 4096 / (132 * 3.6 * 1e9) * 0.9 * 4e12).epsilon(1e-3));
    // A square matrix: the reduced dimension decides, not the remaining sizes.
    const auto of_rows =
        launches_of("aten::sum", {t({4096, 4096}), ints({1})}, {tensor({4096})}, device);
    CHECK(std::get<RowWork>(of_rows->kernels[0].work).rows == 4096);
  }

  TEST_CASE("an operand evicted from L2 before its reuse is reread from memory") {
    const std::int64_t heads = 32, length = 2048, number = 4;
    DeviceSpec device = modern_device();
    const auto bytes_with = [&](std::vector<std::int64_t> mask, std::int64_t l2_bytes) {
      device.l2_bytes = l2_bytes;
      const auto launches =
          launches_of("aten::add", {t({8, heads, length, length}), t(std::move(mask)), nothing()},
                      {tensor({8, heads, length, length})}, device);
      return std::get<StreamWork>(launches->kernels.at(0).work).bytes;
    };
    const std::int64_t square = length * length, out = 8 * heads * square;
    const std::int64_t mask = number * square;
    CHECK(bytes_with({8, 1, length, length}, 4 * mask) == number * (2 * out + 8 * square));
    CHECK(bytes_with({8, 1, length, length}, 4 * mask - 1) == number * 3 * out);
    CHECK(bytes_with({length, length}, 4 * mask - 1) == number * 3 * out);
    CHECK(bytes_with({8, 1, 1, length}, 4 * mask - 1) == number * (2 * out + 8 * length));
  }

  TEST_CASE(
      "a transposed operand is copied before a row norm, and read slowly by other operators") {
    const TensorSpec rows = tensor({64, 128, 256}, half);
    TensorSpec across = rows;
    across.strides = {128 * 256, 1, 128};
    const auto of_norm = [](const TensorSpec& input) {
      RecordingBuilder b;
      b.call("aten::native_layer_norm",
             {TestArgument{{input}, {}}, ints({256}), t({256}, half), t({256}, half)},
             {tensor({64, 128, 256}, half), tensor({64, 128, 1}), tensor({64, 128, 1})},
             b.node("node"));
      return launches_of(b, modern_device())->kernels;
    };
    CHECK(of_norm(rows).size() == 1);
    REQUIRE(of_norm(across).size() == 2);
    CHECK(of_norm(across)[1].time_class == TimeClass::copy);
    CHECK(std::get<StreamWork>(of_norm(across)[1].work).bytes == 2 * 4 * 64 * 128 * 256);
    const auto of_sum = [&](const TensorSpec& other) {
      RecordingBuilder b;
      b.call("aten::add", {TestArgument{{rows}, {}}, TestArgument{{other}, {}}}, {rows},
             b.node("node"));
      return launches_of(b, modern_device())->kernels.at(0);
    };
    CHECK(of_sum(rows).time_class == TimeClass::elementwise);
    CHECK(of_sum(across).time_class == TimeClass::copy);
    TensorSpec expanded = rows;
    expanded.strides = {256, 0, 1};
    CHECK(of_sum(expanded).time_class == TimeClass::elementwise);
  }

  TEST_CASE("linear algebra proceeds by panels, and is marked as rough") {
    const auto launches = launches_of("aten::linalg_cholesky_ex", {t({2, 130, 130})},
                                      {tensor({2, 130, 130}), tensor({2}, DType::int32)});
    REQUIRE(launches->kernels.size() == 1);
    CHECK(launches->kernels[0].launches == 3 * 3);
    const auto work = std::get<ProductWork>(launches->kernels[0].work);
    CHECK(std::tuple(work.batch, work.m, work.n) == std::tuple(2, 130, 130));
    CHECK(work.k == 130 / 6);  // n cubed / 3 FLOPs, in 2 m n k.
    CHECK(launches->is_rough);
    CHECK(launches_of("aten::_cdist_forward", {t({4, 5}), t({6, 5})}, {tensor({4, 6})})->is_rough);
  }

  TEST_CASE("views launch nothing, and reading a value synchronizes") {
    CHECK(launches_of("aten::view", {t({4}), ints({2, 2})}, {tensor({2, 2})})->kernels.empty());
    CHECK(launches_of("aten::nonzero", {t({4})}, {tensor({4, 1}, DType::int64)})->waits);
    CHECK_FALSE(launches_of("aten::relu", {t({4})}, {tensor({4})})->waits);
  }
}

}  // namespace symprof::test::launches_test
