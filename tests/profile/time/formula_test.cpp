// Kernel time formulas against roofline bounds, and cases they must distinguish.
#include "profile/time/formula.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/device_spec.h"
#include "tests/support/source_folder.h"

namespace symprof::profile {
namespace {

const std::string device_folder = test::source_folder() + "/devices";

std::vector<double> starts(const Formula& formula) {
  std::vector<double> values;
  for (const Coefficient& row : formula.coefficients) values.push_back(row.start);
  return values;
}

KernelTime time_of(TimeClass time_class, const Work& work, const char* device = "h200") {
  const Formula& formula = formula_of(time_class);
  return formula.time(work, gpu_of(find_device(device, device_folder)), starts(formula),
                      time_class);
}

}  // namespace

TEST_SUITE("time_formulas") {
  TEST_CASE("each class has its own row, with initial coefficients within bounds") {
    for (int i = 0; i < time_classes; ++i) {
      const auto time_class = static_cast<TimeClass>(i);
      const Formula& formula = formula_of(time_class);
      INFO(formula.name);
      CHECK(formula.time_class == time_class);
      CHECK(formula.coefficients.front().name == "floor");
      for (const Coefficient& row : formula.coefficients) {
        CHECK(row.lowest <= row.start);
        CHECK(row.start <= row.highest);
      }
    }
  }

  TEST_CASE("no product is faster than its roofline bound") {
    const DeviceSpec h200 = find_device("h200", device_folder);
    const double peak = 989.4e6, bandwidth = 4.8e6;  // Per microsecond.
    CHECK(*h200.memory_bytes_per_second == bandwidth * 1e6);
    for (const std::int64_t m : {1, 64, 1000, 8192})
      for (const std::int64_t k : {128, 4096, 20000}) {
        const ProductWork product{.m = m, .n = 8192, .k = k, .weight_sets = 6};
        const double us = time_of(TimeClass::product_16bit, product).us;
        CHECK(us > 2.0 * static_cast<double>(m * 8192 * k) / peak);
        CHECK(us > 0.7 * 2.0 * static_cast<double>(8192 * k) / bandwidth);
      }
  }

  TEST_CASE("a product's limit depends on its size") {
    CHECK(time_of(TimeClass::product_16bit, ProductWork{.m = 8, .n = 8, .k = 8}).limit ==
          Limit::launch);
    CHECK(time_of(TimeClass::product_16bit, ProductWork{.m = 8192, .n = 8192, .k = 8192}).limit ==
          Limit::arithmetic);
    const ProductWork thin{.m = 1, .n = 16384, .k = 16384, .weight_sets = 6};
    CHECK(time_of(TimeClass::product_16bit, thin).limit == Limit::memory);
  }

  TEST_CASE("a function takes its cycles, on as many cores as have enough elements") {
    const Formula& formula = formula_of(TimeClass::function);
    Gpu cpu{.multiprocessors = 4, .clock = 2000, .memory = 1e6, .l2_bytes = 1e9, .is_cpu = true};
    const auto us = [&](Function function, std::int64_t numbers) {
      return formula.time(FunctionWork{function, numbers, 8 * numbers}, cpu, starts(formula),
                          TimeClass::function);
    };
    const double floor_us = starts(formula).front(), cycles = 6.5;  // Of tanh.
    const auto computed = [&](double numbers, double cores) {
      return doctest::Approx(floor_us + numbers * cycles / (2000 * cores)).epsilon(0.01);
    };
    CHECK(us(Function::tanh, 32768).us == computed(32768, 1));
    CHECK(us(Function::tanh, 65536).us == computed(65536, 2));
    CHECK(us(Function::tanh, 1 << 22).us == computed(1 << 22, 4));
    CHECK(us(Function::tanh, 1 << 22).limit == Limit::arithmetic);
    CHECK(us(Function::sqrt, 1 << 22).us < us(Function::lgamma, 1 << 22).us);
  }

  TEST_CASE("a CPU skips whole blocks of 512 keys after a causal query block") {
    const auto us = [](std::int64_t length, bool causal, bool is_cpu) {
      Gpu device{.multiprocessors = 2, .clock = 2000, .memory = 1e6, .l2_bytes = 1e8};
      device.is_cpu = is_cpu;
      device.rates[static_cast<int>(TimeClass::attention_fp32)] = 1e5;
      const Formula& formula = formula_of(TimeClass::attention_fp32);
      return formula
          .time(AttentionWork{.batch = 8,
                              .heads = 12,
                              .kv_heads = 12,
                              .queries = length,
                              .keys = length,
                              .head_dim = 64,
                              .causal = causal},
                device, starts(formula), TimeClass::attention_fp32)
          .us;
    };
    CHECK(us(512, true, true) == us(512, false, true));
    CHECK(us(1024, true, true) / us(1024, false, true) == doctest::Approx(0.75).epsilon(0.05));
    CHECK(us(1024, true, false) / us(1024, false, false) == doctest::Approx(0.55).epsilon(0.05));
  }

  TEST_CASE("a product with one more wave takes a step longer") {
    const auto us = [](std::int64_t batch) {
      const ProductWork product{.batch = batch, .m = 256, .n = 128, .k = 16384};
      return time_of(TimeClass::product_16bit, product).us;
    };
    // 132 multiprocessors: with 132 tiles all are busy at once.
    CHECK(us(264) / us(132) > 1.7);
    CHECK(us(132) / us(120) < 1.1);
  }

  TEST_CASE("if waves do not end together, one more tile takes a tile's time") {
    const Formula& formula = formula_of(TimeClass::product_16bit);
    const Gpu gpu = gpu_of(find_device("h200", device_folder));
    const auto us = [&](std::int64_t batch, double together) {
      std::vector<double> coefficients = starts(formula);
      coefficients[9] = together, coefficients[10] = 0.005;
      const ProductWork product{.batch = batch, .m = 256, .n = 128, .k = 16384};
      return formula.time(product, gpu, coefficients, TimeClass::product_16bit).us;
    };
    CHECK(formula.coefficients[9].name == "together");
    CHECK(us(150, 0.05) < 1.25 * us(132, 0.05));
    CHECK(us(150, 1) > us(150, 0.05));  // Little more: split along k, tiles fill their waves.
    CHECK(us(264, 0.05) == doctest::Approx(us(264, 1)).epsilon(0.01));  // Full waves.
  }

  TEST_CASE("a product narrower than a tile loads only its own columns") {
    // A head's mix of CaiT: 4 numbers in, 4 out. Its bytes are what it takes, once through L2.
    const ProductWork narrow{.batch = 4096, .m = 577, .n = 4, .k = 4};
    const double bytes = 2.0 * 4096 * 577 * (4 + 4);
    const KernelTime time = time_of(TimeClass::product_16bit, narrow);
    CHECK(time.us < 10 * bytes / 4.8e6);
    CHECK(time.us > bytes / 4.8e6);
  }

  TEST_CASE("tiles nearly as fast as the fastest may be chosen, and cost time") {
    const Formula& formula = formula_of(TimeClass::product_16bit);
    const Gpu gpu = gpu_of(find_device("h200", device_folder));
    double before = 0;
    for (const double choice : {0.005, 0.05, 0.2, 0.5}) {
      std::vector<double> coefficients = starts(formula);
      coefficients[10] = choice;
      const ProductWork product{.m = 1025, .n = 10240, .k = 6144};
      const double us = formula.time(product, gpu, coefficients, TimeClass::product_16bit).us;
      CHECK(us >= before);
      before = us;
    }
    CHECK(formula.coefficients[10].name == "choice");
  }

  TEST_CASE("Hopper's TF32 products are slower if no operand is contiguous along k") {
    const auto ratio = [](TimeClass time_class, const char* device) {
      const Formula& formula = formula_of(time_class);
      const Gpu gpu = gpu_of(find_device(device, device_folder));
      std::vector<double> coefficients = starts(formula);
      coefficients[2] = 200, coefficients[4] = 300, coefficients[7] = 0.005;  // Arithmetic alone.
      for (std::size_t i = 11; i < coefficients.size(); ++i)
        coefficients[i] = formula.coefficients[i].absent;
      ProductWork product{.m = 8192, .n = 8192, .k = 8192, .operand_bytes = 4, .result_bytes = 4};
      const double along = formula.time(product, gpu, coefficients, time_class).us;
      product.layout = ProductLayout::across;
      return formula.time(product, gpu, coefficients, time_class).us / along;
    };
    CHECK(ratio(TimeClass::product_tf32, "h200") == doctest::Approx(1.3).epsilon(0.03));
    CHECK(ratio(TimeClass::product_16bit, "h200") == 1);
    CHECK(ratio(TimeClass::product_fp32, "h200") == 1);
    CHECK(ratio(TimeClass::product_tf32, "a100-80g") == 1);
  }

  TEST_CASE("results are written at the end, first operands are read from memory at the start") {
    const Formula& formula = formula_of(TimeClass::product_8bit);
    const Gpu gpu = gpu_of(find_device("h200", device_folder));
    ProductWork product{.m = 8192, .n = 1024, .k = 16, .operand_bytes = 1, .result_bytes = 2};
    std::vector<double> coefficients = starts(formula);
    const auto us = [&] { return formula.time(product, gpu, coefficients, formula.time_class).us; };
    coefficients[13] = formula.coefficients[13].absent, coefficients[7] = 0.005;
    REQUIRE(formula.coefficients[12].name == "store");
    coefficients[12] = 100;
    const double fast = us();
    coefficients[12] = 50;
    const double written_us = 8192.0 * 1024 * 2 / (gpu.multiprocessors * gpu.clock * 100);
    CHECK(us() - fast == doctest::Approx(written_us).epsilon(0.01));
    product.weight_sets = 6;
    const double warm = us();
    REQUIRE(formula.coefficients[13].name == "cold");
    coefficients[13] = 0.7;
    CHECK(us() - warm == doctest::Approx(0.7).epsilon(0.01));
  }

  TEST_CASE("a lone TF32 block takes its clocks per k") {
    const Formula& formula = formula_of(TimeClass::product_tf32);
    const Gpu gpu = gpu_of(find_device("h200", device_folder));
    const auto us = [&](std::int64_t k, double clocks) {
      std::vector<double> coefficients = starts(formula);
      REQUIRE(formula.coefficients[11].name == "alone");
      coefficients[11] = clocks, coefficients[6] = 20;  // No split pays.
      return formula
          .time(ProductWork{.m = 16, .n = 16, .k = k, .operand_bytes = 4}, gpu, coefficients,
                formula.time_class)
          .us;
    };
    const double expected = 512 * 40 / gpu.clock;
    CHECK(us(1024, 40) - us(512, 40) == doctest::Approx(expected).epsilon(0.3));
    CHECK(us(1024, 40) - us(512, 40) > us(1024, 1) - us(512, 1) + 0.5 * expected);
  }

  TEST_CASE("cuBLAS's small-layer kernel takes equal time per part of k") {
    const auto us = [](std::int64_t k) {
      return time_of(TimeClass::product_fp32, ProductWork{.m = 32,
                                                          .n = 32,
                                                          .k = k,
                                                          .operand_bytes = 4,
                                                          .kernel = ProductKernel::large_k})
          .us;
    };
    CHECK(us(16) - us(8) == doctest::Approx(us(24) - us(16)));
    CHECK(us(16) - us(8) > 1);
    CHECK(us(48) - us(40) < 0.1);                        // No more parts.
    CHECK(us(32) == doctest::Approx(7.2).epsilon(0.1));  // 7.2 and 7.8 us were recorded.
  }

  TEST_CASE(
      "residuals of products depend on default tiles, layout and alignment, on a CPU on sizes") {
    const Formula& formula = formula_of(TimeClass::product_16bit);
    std::vector<double> coefficients = starts(formula);
    coefficients[9] = 1;  // Waves end together.
    Gpu gpu = gpu_of(find_device("a100-80g", device_folder));
    const auto place = [&](const ProductWork& product) {
      return residual_place(formula, product, gpu, coefficients);
    };
    // 80 tiles of 256 x 128 are one wave of 108 multiprocessors, 120 are two.
    const std::vector<double> one = place({.m = 512, .n = 5120, .k = 5120});
    const std::vector<double> two =
        place({.m = 768, .n = 5120, .k = 5120, .layout = ProductLayout::mixed});
    REQUIRE(one.size() == 9);
    CHECK(two[0] > one[0] + 1);
    for (std::size_t i = 0; i < 3; ++i) CHECK((two[i] >= 0 && two[i] <= 8));
    CHECK(two[3] - one[3] == 4);
    CHECK(one[4] == 0);
    CHECK(place({.m = 512, .n = 5120, .k = 5120, .alignment = 2})[4] == 2 * 3);
    CHECK(two[6] == std::log2(5120));
    const ProductWork other{.m = 512, .n = 5120, .k = 5120, .kernel = ProductKernel::few_rows};
    CHECK(place(other)[3] - one[3] == -8);
    gpu.is_cpu = true;
    CHECK(place({.m = 512, .n = 5120, .k = 5120}) ==
          formula.sizes(ProductWork{.m = 512, .n = 5120, .k = 5120}));
  }

  TEST_CASE("bytes are read at memory bandwidth, or L2's if they fit") {
    const auto us = [](std::int64_t bytes) {
      return time_of(TimeClass::elementwise, StreamWork{bytes});
    };
    const std::int64_t large = std::int64_t{4} << 30;
    CHECK((us(2 * large).us - us(large).us) ==
          doctest::Approx(static_cast<double>(large) / (4.8e6 * 0.85)).epsilon(0.01));
    CHECK(us(large).limit == Limit::memory);
    CHECK(us(38'000'000).limit == Limit::cache);
    CHECK(us(1024).limit == Limit::launch);
  }

  TEST_CASE("a causal mask halves long attention; the backward pass takes its ratio") {
    AttentionWork attention{
        .batch = 4, .heads = 32, .kv_heads = 32, .queries = 8192, .keys = 8192, .head_dim = 128};
    const double whole = time_of(TimeClass::attention_flash, attention).us;
    attention.causal = true;
    const double half = time_of(TimeClass::attention_flash, attention).us;
    CHECK(half / whole == doctest::Approx(0.5).epsilon(0.05));
    attention.backward = true;
    CHECK(time_of(TimeClass::attention_flash, attention).us / half ==
          doctest::Approx(2.94).epsilon(0.02));
  }

  TEST_CASE("Winograd exceeds the peak for a 3 x 3 convolution without stride") {
    ConvolutionWork convolution{.batch = 64,
                                .in_channels = 256,
                                .out_channels = 256,
                                .in = 56 * 56,
                                .out = 56 * 56,
                                .window = 9};
    const double plain = time_of(TimeClass::convolution_fp32, convolution, "t4").us;
    const double peak_us = 2.0 * 64 * 56 * 56 * 256 * 256 * 9 / 8.1e6;
    convolution.is_winograd = true;
    const double winograd = time_of(TimeClass::convolution_fp32, convolution, "t4").us;
    CHECK(plain > peak_us);
    CHECK(winograd < peak_us);
  }

  TEST_CASE("a depthwise convolution is memory-bound") {
    const ConvolutionWork convolution{.batch = 64,
                                      .in_channels = 512,
                                      .out_channels = 512,
                                      .groups = 512,
                                      .in = 56 * 56,
                                      .out = 56 * 56,
                                      .window = 9,
                                      .number_bytes = 2,
                                      .channels_last = true};
    const double bytes = 2.0 * 2 * 64 * 56 * 56 * 512;
    CHECK(time_of(TimeClass::convolution_16bit, convolution).us > bytes / 4.8e6);
  }

  TEST_CASE("a depthwise convolution takes its cycles, and a small weight gradient few blocks") {
    const auto us = [](ConvolutionPass pass, std::int64_t batch, std::int64_t channels,
                       std::int64_t window) {
      const ConvolutionWork convolution{.pass = pass,
                                        .batch = batch,
                                        .in_channels = channels,
                                        .out_channels = channels,
                                        .groups = channels,
                                        .in = 56 * 56,
                                        .out = 56 * 56,
                                        .window = window};
      return time_of(TimeClass::depthwise, convolution).us - 2.5;  // Less the floor.
    };
    using enum ConvolutionPass;
    // As many cycles for each number of the result, by as many multiprocessors at the H200's clock.
    const double cycles = 1.2 + 0.15 * 25, numbers = 64.0 * 512 * 56 * 56;
    CHECK(us(forward, 64, 512, 25) == doctest::Approx(numbers * cycles / (132 * 1830)));
    // Nine blocks keep few of 132 multiprocessors busy: eight times as many take as long.
    CHECK(us(weight_gradient, 8, 1, 9) == doctest::Approx(us(weight_gradient, 8, 8, 9)));
    CHECK(us(weight_gradient, 64, 512, 9) / us(weight_gradient, 64, 256, 9) ==
          doctest::Approx(2).epsilon(0.1));
  }

  TEST_CASE("steps of a recurrent layer add up, wide ones are bound by weight bytes") {
    const auto us = [](RecurrentWork work) {
      return time_of(TimeClass::recurrent_16bit, work).us - 3;  // Less the floor.
    };
    const RecurrentWork one{.steps = 1, .batch = 1, .hidden = 4096, .gates = 4, .number_bytes = 2};
    RecurrentWork many = one, back = one;
    many.steps = 100;
    back.backward = true;
    CHECK(us(many) == doctest::Approx(100 * us(one)));
    CHECK(us(back) == doctest::Approx(1.5 * us(one)));
    CHECK(us(one) > 2.0 * 4 * 4096 * 4096 / (1.2 * 4.8e6));
  }
}

}  // namespace symprof::profile
