#include "base/kernel_clocks.h"

#include <doctest/doctest.h>

#include "base/device_spec.h"
#include "base/error.h"
#include "tests/support/exported_archive.h"
#include "tests/support/source_folder.h"

namespace symprof::kernel_clocks_test {

std::string clocks_message(const std::string& json) {
  const test::TemporaryFile file("clocks.json", json);
  try {
    load_kernel_clocks(file.path());
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_SUITE("kernel_clocks") {
  TEST_CASE("a number is found by its rule and its name; sources are none") {
    const test::TemporaryFile file(
        "clocks.json", R"({"source": "mine", "roll": {"source": "a trace", "per_clock": 0.5}})");
    CHECK(load_kernel_clocks(file.path()) == KernelClocks{{"roll.per_clock", 0.5}});
  }

  TEST_CASE("errors name the key") {
    CHECK(clocks_message("[]").find("is not a JSON object") != std::string::npos);
    CHECK(clocks_message("{").find("is not well-formed JSON") != std::string::npos);
    CHECK(clocks_message(R"({"roll": {"per_clock": 1}})").find("'roll'") != std::string::npos);
    CHECK(clocks_message(R"({"roll": {"source": "x", "per_clock": 0}})")
              .find("'roll.per_clock' is 0") != std::string::npos);
  }

  TEST_CASE("a device without a table of its own has that of the H200") {
    const std::string folder = test::source_folder() + "/devices";
    const DeviceSpec h200 = find_device("h200", folder);
    const test::TemporaryFile file("mine.json", to_json(h200));
    CHECK(load_device(file.path()).kernel_clocks == nullptr);
    CHECK(*find_device(file.path(), folder).kernel_clocks == *h200.kernel_clocks);
  }
}

}  // namespace symprof::kernel_clocks_test
