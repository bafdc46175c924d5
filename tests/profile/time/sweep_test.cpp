// Choice of the next measurement, aborting and resuming a sweep.
#include "profile/time/sweep.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "profile/time/time_model.h"

namespace symprof::profile::sweep_test {
namespace {

constexpr std::int64_t largest = 1 << 28;
constexpr SweepLimits limits{.bytes = largest, .flops = 1e10};

std::vector<Kernel> kernels_of(std::initializer_list<TimeClass> classes) {
  std::vector<Kernel> all;
  for (const TimeClass one : classes)
    std::ranges::copy(sweep_kernels(one, limits), std::back_inserter(all));
  return all;
}

double bytes_of(const Kernel& kernel) {
  return static_cast<double>(std::get<StreamWork>(kernel.work).bytes);
}

/// A device of 1 GB/s with launches of 3 us.
std::optional<double> slow_device(const Kernel& kernel) { return 3 + bytes_of(kernel) / 1e3; }

SweepEnd after(std::size_t count) {
  return [=](std::size_t measured) { return measured >= count; };
}
bool never(std::size_t) { return false; }

std::set<Kernel> set_of(const std::vector<MeasuredKernel>& measured) {
  std::set<Kernel> result;
  for (const MeasuredKernel& row : measured) result.insert(row.kernel);
  return result;
}

std::string refusal(const std::string& json) {
  try {
    parse_measurements(json, "kernels.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string file_with(const std::string& row) {
  return R"({"schema": "symprof.kernels/1", "kernels": [)" + row + "]}";
}

}  // namespace

TEST_SUITE("time_sweep") {
  TEST_CASE("kernels of a class differ, and stay below the largest size") {
    for (const TimeClass one :
         {TimeClass::elementwise, TimeClass::softmax, TimeClass::product_fp32,
          TimeClass::product_16bit, TimeClass::attention_fp32, TimeClass::convolution_fp32,
          TimeClass::depthwise, TimeClass::function}) {
      const std::vector<Kernel> kernels = sweep_kernels(one, limits);
      CHECK(std::set<Kernel>(kernels.begin(), kernels.end()).size() == kernels.size());
      CHECK(kernels.size() > 2 * fewest_measurements(one));
    }
    for (const Kernel& kernel : sweep_kernels(TimeClass::copy, limits))
      CHECK(bytes_of(kernel) <= largest);
    CHECK(sweep_kernels(TimeClass::recurrent_tf32, limits).empty());
  }

  TEST_CASE("attention's backward has its own class on a CPU, and the forward class on a GPU") {
    const auto backwards = [](TimeClass time_class, bool is_cpu) {
      SweepLimits of_device = limits;
      of_device.is_cpu = is_cpu;
      const auto kernels = sweep_kernels(time_class, of_device);
      return std::pair(kernels.size(), static_cast<std::size_t>(
                                           std::ranges::count_if(kernels, [](const Kernel& one) {
                                             return std::get<AttentionWork>(one.work).backward;
                                           })));
    };
    const auto [all, half] = backwards(TimeClass::attention_fp32, false);
    CHECK(2 * half == all);
    CHECK(backwards(TimeClass::attention_fp32, true) == std::pair(half, std::size_t{0}));
    CHECK(backwards(TimeClass::attention_backward, true) == std::pair(half, half));
  }

  TEST_CASE("a GPU's rows are in both widths, a CPU's in fp32") {
    constexpr SweepLimits of_cpu{.bytes = largest, .flops = 1e10, .is_cpu = true};
    const auto count = [](const std::vector<Kernel>& kernels, std::int64_t number_bytes) {
      return std::ranges::count(kernels, number_bytes,
                                [](const Kernel& one) { return number_bytes_of(one); });
    };
    for (const TimeClass one : {TimeClass::layer_norm, TimeClass::softmax, TimeClass::reduction,
                                TimeClass::batch_norm_rows}) {
      const std::vector<Kernel> gpu = sweep_kernels(one, limits), cpu = sweep_kernels(one, of_cpu);
      const auto of_cpu_count = static_cast<std::ptrdiff_t>(cpu.size());
      // A GPU's layer norm backward has fewer bytes: that of the input alone.
      CHECK((one == TimeClass::layer_norm ? count(gpu, 4) > of_cpu_count
                                          : count(gpu, 4) == of_cpu_count));
      CHECK(count(gpu, 4) + count(gpu, 2) == static_cast<std::ptrdiff_t>(gpu.size()));
      CHECK(count(gpu, 2) >= count(gpu, 4));  // Equal bytes are more elements.
      CHECK(count(cpu, 4) == static_cast<std::ptrdiff_t>(cpu.size()));
    }
    // cuDNN's batch norm has none in bfloat16.
    CHECK(count(sweep_kernels(TimeClass::batch_norm, limits), 2) == 0);
    CHECK(number_bytes_of(sweep_kernels(TimeClass::product_16bit, limits).front()) == 2);
    CHECK(number_bytes_of(sweep_kernels(TimeClass::product_fp32, limits).front()) == 4);
  }

  TEST_CASE("long kernels are removed, in order") {
    auto products = sweep_kernels(TimeClass::product_fp32, limits);
    const auto all = products;
    const auto flops_of = [](const Kernel& kernel) {
      const auto& p = std::get<ProductWork>(kernel.work);
      return 2.0 * static_cast<double>(p.batch * p.m * p.n * p.k);
    };
    const auto long_ones = take_long_kernels(products, 1e9);
    CHECK(!long_ones.empty());
    CHECK(!products.empty());
    CHECK(long_ones.size() + products.size() == all.size());
    for (const Kernel& kernel : long_ones) CHECK(flops_of(kernel) >= 1e9);
    for (const Kernel& kernel : products) CHECK(flops_of(kernel) < 1e9);
    CHECK(std::ranges::is_sorted(long_ones, {}, [&](const Kernel& one) {
      return std::ranges::find(all, one) - all.begin();
    }));
  }

  TEST_CASE("each class first gets what its fit needs, then the most distant kernels") {
    const auto candidates = kernels_of({TimeClass::elementwise, TimeClass::copy});
    const std::size_t both = 2 * fewest_measurements(TimeClass::elementwise);
    std::vector<MeasuredKernel> measured;
    sweep(measured, candidates, slow_device, after(both));
    const auto copies = std::ranges::count(
        measured, TimeClass::copy, [](const MeasuredKernel& row) { return row.kernel.time_class; });
    CHECK(2 * static_cast<std::size_t>(copies) == both);
    // The 18 octaves from 1 KiB to 256 MiB, each point amid a widest gap: two ends, a middle, two
    // quarters and four eighths. So eight points leave one gap of a quarter, and a size half of it
    // away; nine, of which the eighths are whole, none further than half an eighth, but for the
    // candidates' steps of a third.
    const auto furthest = [&] {
      double largest = 0;
      for (const Kernel& kernel : candidates) {
        double nearest = INFINITY;
        for (const MeasuredKernel& row : measured)
          if (row.kernel.time_class == kernel.time_class)
            nearest =
                std::min(nearest, std::abs(std::log2(bytes_of(kernel) / bytes_of(row.kernel))));
        largest = std::max(largest, nearest);
      }
      return largest;
    };
    constexpr double octaves = 18, rounding = 1e-3;
    CHECK(furthest() <= octaves / 4 / 2 + rounding);
    sweep(measured, candidates, slow_device, after(both + 2));
    CHECK(furthest() <= octaves / 8 / 2 + 1.0 / 3);
  }

  TEST_CASE("an aborted sweep resumes from its file without repeating measurements") {
    const auto candidates = kernels_of({TimeClass::elementwise});
    std::vector<MeasuredKernel> at_once, first;
    sweep(at_once, candidates, slow_device, never);
    CHECK(at_once.size() == candidates.size());
    sweep(first, candidates, slow_device, after(20));
    CHECK(first.size() == 20);
    std::vector<MeasuredKernel> second = parse_measurements(to_json(first), "kernels.json");
    std::size_t asked = 0;
    const KernelTimer counting = [&](const Kernel& kernel) { return ++asked, slow_device(kernel); };
    sweep(second, candidates, counting, never);
    CHECK(asked == candidates.size() - 20);
    CHECK(set_of(second) == set_of(at_once));
  }

  TEST_CASE("a timer error keeps earlier measurements; kernels that cannot run are omitted") {
    const auto candidates = kernels_of({TimeClass::elementwise});
    std::vector<MeasuredKernel> measured;
    const KernelTimer failing = [&](const Kernel& kernel) -> std::optional<double> {
      if (measured.size() == 5) throw std::runtime_error("out of memory");
      return slow_device(kernel);
    };
    CHECK_THROWS_AS(sweep(measured, candidates, failing, never), std::runtime_error);
    CHECK(measured.size() == 5);
    const KernelTimer small_only = [](const Kernel& kernel) {
      return bytes_of(kernel) < 1e6 ? slow_device(kernel) : std::nullopt;
    };
    measured.clear();
    sweep(measured, candidates, small_only, never);
    CHECK(measured.size() ==
          static_cast<std::size_t>(std::ranges::count_if(
              candidates, [](const Kernel& one) { return bytes_of(one) < 1e6; })));
    const KernelTimer no_clock = [](const Kernel&) { return std::optional<double>(0); };
    measured.clear();
    CHECK_THROWS_AS(sweep(measured, candidates, no_clock, never), Error);
  }

  TEST_CASE("a file of measurements round-trips") {
    std::vector<MeasuredKernel> rows;
    for (const Kernel& kernel :
         kernels_of({TimeClass::copy, TimeClass::layer_norm, TimeClass::product_16bit,
                     TimeClass::attention_flash, TimeClass::convolution_tf32, TimeClass::depthwise,
                     TimeClass::function}))
      rows.push_back({kernel, 1.25 + static_cast<double>(rows.size())});
    const auto back = parse_measurements(to_json(rows), "kernels.json");
    REQUIRE(back.size() == rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(back[i].kernel == rows[i].kernel);
      CHECK(back[i].us == rows[i].us);
    }
  }

  TEST_CASE("an error in a file has its position") {
    const auto says = [](const std::string& json, const char* words) {
      return refusal(json).find(words) != std::string::npos;
    };
    CHECK(says("{", "is no file of measurements"));
    CHECK(says(R"({"schema": "symprof.run/1"})", "not symprof.kernels/1"));
    CHECK(says(file_with(R"({"class": "copy", "work": [4096]})"), "us"));
    CHECK(says(file_with(R"({"class": "copie", "work": [4096], "us": 1})"),
               "'kernels[0]' is of no class"));
    CHECK(says(file_with(R"({"class": "copy", "work": [1, 2], "us": 1})"),
               "not the sizes of its class"));
    CHECK(says(file_with(R"({"class": "copy", "work": [-1], "us": 1})"), "whole number"));
    CHECK(says(file_with(R"({"class": "copy", "work": [0], "us": 1})"),
               "not the sizes of its class"));
    CHECK(says(file_with(R"({"class": "copy", "work": [8], "us": 1, "launches": 0})"), "launches"));
    CHECK(says(file_with(R"({"class": "depthwise", "work": [3, 1, 8, 8, 8, 49, 49, 9, 4, 0, 0],)"
                         R"("us": 1})"),
               "not the sizes of its class"));
    CHECK(says(file_with(R"({"class": "function", "work": [200, 8, 64], "us": 1})"),
               "not the sizes of its class"));
    CHECK(says(file_with(R"({"class": "copy", "work": [4096], "us": 0})"), "took no time"));
    CHECK(refusal(file_with(R"({"class": "copy", "work": [4096], "us": 1})")) == "no error");
  }
}

}  // namespace symprof::profile::sweep_test
