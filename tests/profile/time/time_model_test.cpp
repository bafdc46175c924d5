// Coefficients, residuals and intervals from a file to an estimate.
#include "profile/time/time_model.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "profile/time/fit.h"
#include "profile/time/formula.h"
#include "profile/time/kernel_times.h"
#include "tests/support/source_folder.h"

namespace symprof::profile::time_model_test {
namespace {

const std::string devices_here = test::source_folder() + "/devices";

/// A class of streams: floor 4 us, the memory's whole bandwidth, no cache to speak of.
std::string streams(const std::string& name, const std::string& more) {
  return R"({"classes": {")" + name +
         R"(": {"coefficients": {"floor": 4, "memory": 1, "cache": 1, "residence": 1e-9,
            "fill": 1e-9}, "interval": 0.5)" +
         more + "}}}";
}

KernelTimes parsed(const std::string& json) { return parse_kernel_times(json, "times.json"); }

std::string refusal(const std::string& json) {
  try {
    parsed(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

constexpr std::int64_t bytes = 4'800'000'000;  // A millisecond of an H200.
const Kernel stream{TimeClass::elementwise, StreamWork{bytes}};

DeviceSpec device() { return find_device("h200", devices_here); }

}  // namespace

TEST_SUITE("time_model") {
  TEST_CASE("an estimate has the formula's time, an interval and its basis") {
    TimeModel model(device(), parsed(streams("elementwise", R"(, "calibrated": true)")), {},
                    Floor::measured);
    const TimeEstimate one = model.estimate(stream).value();
    CHECK(one.us == doctest::Approx(1004));
    CHECK(one.low_us == doctest::Approx(1004 * std::exp(-0.5)));
    CHECK(one.high_us == doctest::Approx(1004 * std::exp(0.5)));
    CHECK(one.limit == Limit::memory);
    CHECK(one.basis == TimeBasis::calibrated);
    CHECK(model.roofline_us(stream) == doctest::Approx(1000));
  }

  TEST_CASE("another board and campaign widen the interval, not that of this very board") {
    const std::string own = streams("elementwise", R"(, "calibrated": true)");
    const KernelTimes sheet =
        parsed(streams("elementwise", R"(, "campaigns": {"half_width": 0.3, "rows": 9})"));
    const auto half = [&](const DeviceSpec& spec, const KernelTimes& times, const Kernel& kernel) {
      const TimeEstimate one =
          TimeModel(spec, times, sheet, Floor::measured).estimate(kernel).value();
      CHECK(std::log(one.us / one.low_us) == doctest::Approx(std::log(one.high_us / one.us)));
      return std::log(one.high_us / one.us);
    };
    CHECK(half(device(), parsed(own), stream) == doctest::Approx(std::hypot(0.5, 0.3)));
    // A copy borrows the class, and so what its campaigns differ by.
    const Kernel copy{TimeClass::copy, StreamWork{bytes}};
    CHECK(half(device(), parsed(own), copy) == doctest::Approx(std::hypot(0.5, 0.3)));
    CHECK(half(device(), {}, stream) == doctest::Approx(0.5));  // Other devices are in it already.
    DeviceSpec calibrated = device();
    calibrated.speed_half_width = 0.02;
    CHECK(half(calibrated, parsed(own), stream) == doctest::Approx(0.5));
    CHECK(refusal(streams("elementwise", R"(, "campaigns": {})")).find("campaigns.half_width") !=
          std::string::npos);
  }

  TEST_CASE("power slows products with other devices' coefficients, an owner's limit all") {
    const std::string times = R"({"classes": {"product_fp32": {"interval": 0.5, "coefficients": {
        "floor": 1, "arithmetic": 1, "shared": 50, "memory": 1, "cache": 200, "wave": 0.01,
        "join": 3, "throttling": 1e-4, "residence": 0.5, "together": 0.1, "choice": 0.005}}}})";
    const Kernel large{TimeClass::product_fp32,
                       ProductWork{.m = 8192, .n = 8192, .k = 8192, .operand_bytes = 4}};
    DeviceSpec t4 = find_device("t4", devices_here);
    const auto us = [&](const DeviceSpec& spec, bool is_own, const Kernel& kernel) {
      const KernelTimes known = parsed(times), none;
      return TimeModel(spec, is_own ? known : none, is_own ? none : known).estimate(kernel)->us;
    };
    DeviceSpec strong = t4;
    strong.power_watts = 1000;
    CHECK(us(strong, false, large) == us(t4, true, large));
    CHECK(us(t4, false, large) > 1.3 * us(strong, false, large));
    // A row of vectors waits for memory, which takes no less of the board's power.
    const Kernel narrow{TimeClass::product_fp32,
                        ProductWork{.m = 1, .n = 8192, .k = 8192, .operand_bytes = 4}};
    CHECK(us(t4, false, narrow) == doctest::Approx(us(strong, false, narrow)));
    DeviceSpec limited = strong;
    limited.clock_limit_hz = *t4.clock_hz / 2;
    CHECK(us(limited, true, large) == doctest::Approx(2 * us(strong, true, large)).epsilon(0.02));
  }

  TEST_CASE("a device may have factors for kinds of a class") {
    TimeModel model(device(), parsed(streams("elementwise", R"(, "factors": {"all": 1.5})")), {},
                    Floor::measured);
    CHECK(model.estimate(stream)->us == doctest::Approx(1.5 * 1004));
    const Kernel copy{TimeClass::copy, StreamWork{bytes}};  // Borrows the class, not its factors.
    CHECK(model.estimate(copy)->us == doctest::Approx(1004));
    CHECK(refusal(streams("elementwise", R"(, "factors": {"all": 0})")).find("factors.all") !=
          std::string::npos);
  }

  TEST_CASE("files older than a coefficient lack it") {
    const std::string older = R"({"classes": {"product_8bit": {"interval": 0.5, "coefficients": {
        "floor": 2, "arithmetic": 0.9, "shared": 32, "memory": 0.8, "cache": 40, "wave": 1,
        "join": 3, "throttling": 0.07, "residence": 0.5, "together": 0.8, "choice": 0.05)";
    const auto us = [&](const std::string& more) {
      TimeModel model(device(), parsed(older + more + "}}}}"), {}, Floor::measured);
      const ProductWork work{.m = 64, .n = 64, .k = 64, .operand_bytes = 1, .weight_sets = 6};
      return model.estimate({TimeClass::product_8bit, work}).value().us;
    };
    CHECK(us("") == us(R"(, "alone": 1e-9, "store": 1e9, "cold": 1e-9)"));
    CHECK(us(R"(, "cold": 0.9)") == doctest::Approx(us("") + 0.9).epsilon(0.01));
    CHECK(refusal(older.substr(0, older.find(", \"choice\"")) + "}}}}").find("choice") !=
          std::string::npos);
  }

  TEST_CASE("residuals of another version are refused") {
    const auto answer = [](const std::string& point) -> std::string {
      TimeModel model(device(), parsed(streams("elementwise", ", \"points\": [" + point + "]")),
                      {});
      try {
        return model.estimate(stream) ? "an estimate" : "none";
      } catch (const Error& error) {
        return error.what();
      }
    };
    CHECK(answer("[32, 0.1]") == "an estimate");
    CHECK(answer("[32, 3, 0.1]").find("elementwise") != std::string::npos);
  }

  TEST_CASE("kinds of convolutions: by channels per group, window and pass") {
    const auto kind = [](std::int64_t groups, std::int64_t window, ConvolutionPass pass) {
      return kind_of({TimeClass::convolution_16bit, ConvolutionWork{.pass = pass,
                                                                    .in_channels = 64,
                                                                    .out_channels = 64,
                                                                    .groups = groups,
                                                                    .window = window}});
    };
    CHECK(kind(1, 9, ConvolutionPass::forward) == "dense");
    CHECK(kind(1, 1, ConvolutionPass::data_gradient) == "point_backward");
    CHECK(kind(16, 9, ConvolutionPass::weight_gradient) == "grouped_backward");
    CHECK(kind(64, 9, ConvolutionPass::forward) == "direct");
    CHECK(kind_of({TimeClass::product_16bit, ProductWork{.batch = 2}}) == "batched");
    CHECK(kind_of(stream) == "all");
  }

  TEST_CASE("residuals correct the formula, their deviation and scatter scale the interval") {
    const std::string points =
        R"(, "calibrated": true, "points": [[)" + std::to_string(std::log2(bytes)) + ", 0.1]]";
    TimeModel model(device(), parsed(streams("elementwise", points)), {}, Floor::measured);
    const TimeEstimate one = model.estimate(stream).value();
    const ResidualKernel kernel = formula_of(TimeClass::elementwise).residuals;
    const double variance = kernel.deviation * kernel.deviation,
                 noise = kernel.noise * kernel.noise;
    CHECK(one.us == doctest::Approx(1004 * std::exp(0.1 * variance / (variance + noise))));
    const double deviation = std::sqrt(variance + noise - variance * variance / (variance + noise));
    const double scatter = std::sqrt((2 + 0.1 * 0.1 / (variance + noise)) / 3);
    CHECK(one.high_us / one.us == doctest::Approx(std::exp(0.5 * deviation * scatter)));
  }

  TEST_CASE("a host's floor is replaced by a device launch, in a graph by a shorter one") {
    const std::string times = streams("elementwise", R"(, "floor_is_host": true)");
    const auto us = [&](Floor floor) {
      return TimeModel(device(), parsed(times), {}, floor).estimate(stream)->us;
    };
    CHECK(us(Floor::measured) == doctest::Approx(1004));
    CHECK(us(Floor::of_device) == doctest::Approx(1000 + *device().launch_us));
    CHECK(us(Floor::of_graph) == doctest::Approx(1000 + *device().graph_launch_us));
  }

  TEST_CASE("each further launch takes its time") {
    TimeModel model(device(), parsed(streams("elementwise", "")), {});
    Kernel several = stream;
    several.launches = 5;
    CHECK(model.estimate(several)->us - model.estimate(stream)->us ==
          doctest::Approx(4 * *device().launch_us));
  }

  TEST_CASE("kernels with operands in L2 have their own coefficients") {
    const std::string in_cache = R"(, "calibrated": true, "in_cache": {"coefficients": {"floor": 1,
        "memory": 1, "cache": 1, "residence": 1e-9, "fill": 1e-9}, "interval": 0.1,
        "calibrated": true})";
    const KernelTimes times = parsed(streams("elementwise", in_cache));
    const Kernel small{TimeClass::elementwise, StreamWork{4'800}};  // A nanosecond.
    for (const KernelTimes& one : {times, parsed(to_json(times))}) {
      TimeModel model(device(), one, {}, Floor::measured);
      CHECK(model.estimate(small)->us == doctest::Approx(4.001));
      model.find_in_cache(1);
      CHECK(model.estimate(small)->us == doctest::Approx(1.001));
      CHECK(model.estimate(small)->high_us == doctest::Approx(1.001 * std::exp(0.1)));
      model.find_in_cache(0.5);
      CHECK(model.estimate(small)->us == doctest::Approx(std::sqrt(4.001 * 1.001)));
      model.find_in_cache(0);
      CHECK(model.estimate(small)->us == doctest::Approx(4.001));
    }
    TimeModel without(device(), parsed(streams("elementwise", "")), {}, Floor::measured);
    without.find_in_cache(1);
    CHECK(without.estimate(small)->us == doctest::Approx(4.001));
    CHECK(refusal(streams("elementwise", R"(, "in_cache": {"interval": 1})"))
              .find("'elementwise.coefficients.floor'") != std::string::npos);
  }

  TEST_CASE("a class without rows borrows those of a similar class, as from the data sheet") {
    TimeModel model(device(), parsed(streams("elementwise", R"(, "calibrated": true)")), {});
    const TimeEstimate copied = model.estimate({TimeClass::copy, StreamWork{bytes}}).value();
    CHECK(copied.us == doctest::Approx(1004));
    CHECK(copied.basis == TimeBasis::data_sheet);
    TimeModel own_first(device(), parsed(streams("copy", R"(, "calibrated": true)")),
                        parsed(streams("elementwise", "")));
    CHECK(own_first.estimate({TimeClass::copy, StreamWork{bytes}})->basis == TimeBasis::calibrated);
    CHECK(own_first.estimate(stream)->basis == TimeBasis::data_sheet);
  }

  TEST_CASE("an unknown class has no time") {
    TimeModel model(device(), parsed(streams("elementwise", "")), {});
    CHECK_FALSE(model.estimate({TimeClass::product_16bit, ProductWork{.m = 8, .n = 8, .k = 8}}));
    DeviceSpec without_rates = find_device("t4", devices_here);
    TimeModel shipped = time_model_of(without_rates, devices_here + "/time/data_sheet.json");
    CHECK_FALSE(shipped.estimate({TimeClass::product_8bit, ProductWork{.m = 8, .n = 8, .k = 8}}));
    CHECK(shipped.estimate({TimeClass::product_16bit, ProductWork{.m = 8, .n = 8, .k = 8}}));
  }

  TEST_CASE("an RMS norm is estimated as a layer norm if only those were measured") {
    const RowWork rows{.rows = 4096, .length = 768, .bytes = 2 * 4 * 4096 * 768};
    const Kernel layer{TimeClass::layer_norm, rows}, rms{TimeClass::rms_norm, rows};
    TimeModel a100 = time_model_of(find_device("a100-80g-pcie", devices_here),
                                   devices_here + "/time/data_sheet.json");
    CHECK(a100.estimate(rms)->basis == TimeBasis::calibrated);
    CHECK(a100.estimate(rms)->us == a100.estimate(layer)->us);
    CHECK(a100.estimate(rms)->low_us == a100.estimate(layer)->low_us);
    CHECK(a100.estimate(rms)->high_us == a100.estimate(layer)->high_us);
    TimeModel h200 = time_model_of(device(), devices_here + "/time/data_sheet.json");
    CHECK(h200.estimate(rms)->us < 0.8 * h200.estimate(layer)->us);
  }

  TEST_CASE("a device file without speeds is refused, naming them") {
    DeviceSpec slow = device();
    slow.clock_hz.reset();
    CHECK_THROWS_WITH(TimeModel(slow, {}, {}), doctest::Contains("'clock_hz'"));
  }

  TEST_CASE("the shipped coefficients are complete") {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(devices_here + "/time")) {
      INFO(entry.path().string());
      const KernelTimes times = load_kernel_times(entry.path().string());
      for (int i = 0; i < time_classes; ++i) {
        if (!times[static_cast<std::size_t>(i)]) continue;
        const ClassTimes& one = *times[static_cast<std::size_t>(i)];
        const Formula& formula = formula_of(static_cast<TimeClass>(i));
        INFO(formula.name);
        CHECK(one.interval > 0);
        CHECK_FALSE(one.fitted_on.empty());
        for (std::size_t c = 0; c < one.coefficients.size(); ++c) {
          if (one.coefficients[c] == formula.coefficients[c].absent) continue;
          CHECK(one.coefficients[c] >= formula.coefficients[c].lowest * 0.999);
          CHECK(one.coefficients[c] <= formula.coefficients[c].highest * 1.001);
        }
      }
      ++files;
    }
    CHECK(files > 10);
    for (const DeviceSpec& one : shipped_devices(devices_here)) {
      INFO(one.name);
      CHECK_NOTHROW(time_model_of(one, devices_here + "/time/data_sheet.json"));
    }
  }

  TEST_CASE("errors name the class and the key") {
    CHECK(refusal(streams("elementwise", "")) == "no error");
    CHECK(refusal(streams("elementwize", "")).find("'elementwize'") != std::string::npos);
    CHECK(refusal("{}").find("'classes'") != std::string::npos);
    CHECK(refusal("{").find("well-formed") != std::string::npos);
    CHECK(refusal(streams("softmax", "")).find("'softmax.coefficients.row'") != std::string::npos);
    CHECK(refusal(streams("elementwise", R"(, "points": [3])")).find("'elementwise.points'") !=
          std::string::npos);
    CHECK_THROWS_WITH(load_kernel_times("/no/such/file"), doctest::Contains("kernel_times"));
  }
}

}  // namespace symprof::profile::time_model_test
