#include <doctest/doctest.h>

#include <algorithm>

#include "base/device_spec.h"
#include "base/error.h"
#include "tests/support/exported_archive.h"
#include "tests/support/source_folder.h"

namespace {

using namespace symprof;

const std::string folder = test::source_folder() + "/devices";

const std::string good = R"({"name": "mine", "description": "My GPU", "source": "measured",
  "compute_capability": "8.6", "multiprocessors": 84, "memory_bytes": 25769803776,
  "cublas_workspace_bytes": 8519680, "shared_memory_per_block_optin_bytes": 101376})";

std::string message(const std::string& json) {
  const test::TemporaryFile file("device.json", json);
  try {
    load_device(file.path());
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("the shipped devices are sorted and complete") {
    const auto devices = shipped_devices(folder);
    std::vector<std::string> names;
    for (const DeviceSpec& device : devices) {
      INFO(device.name);
      names.push_back(device.name);
      CHECK(device.memory_bytes > std::int64_t{1} << 33);
      CHECK_FALSE(device.flops_per_second.empty());
      CHECK(device.l2_bytes.value() >= 4'000'000);
      if (device.is_cpu) continue;
      CHECK(device.memory_bytes_per_second.value() > 1e11);
      CHECK((device.memory_type == "HBM" || device.memory_type == "GDDR"));
      CHECK(device.power_watts.value() >= 70);
      // cuBLAS takes 32 MiB on compute capability 9 and later, 8.125 MiB on older ones.
      CHECK(device.cublas_workspace_bytes ==
            (device.compute_major >= 9 ? 32 * 1024 * 1024 : 8 * 1024 * 1024 + 128 * 1024));
    }
    CHECK(std::is_sorted(names.begin(), names.end()));
    CHECK(names.size() == 20);
  }

  TEST_CASE("a device is found by name or by file") {
    const DeviceSpec h200 = find_device("h200", folder);
    CHECK(h200.compute_major == 9);
    CHECK(h200.multiprocessors == 132);
    CHECK(find_device(folder + "/t4.json", folder).name == "t4");
    CHECK_THROWS_WITH(find_device("h20", folder), doctest::Contains("Did you mean 'h200'?"));
    CHECK_THROWS_WITH(find_device("zzzzzz", folder), doctest::Contains("a100-40g"));
    CHECK_THROWS_AS(find_device("none.json", folder), Error);
    CHECK_THROWS_AS(shipped_devices("/no/such/folder"), Error);
  }

  TEST_CASE("missing values of a file are unknown, not zero") {
    const test::TemporaryFile file("device.json", good);
    const DeviceSpec device = load_device(file.path());
    CHECK(device.compute_major == 8);
    CHECK(device.compute_minor == 6);
    CHECK_FALSE(device.memory_bytes_per_second);
    CHECK(device.flops_per_second.empty());
    CHECK_FALSE(device.clock_hz);
    CHECK_FALSE(device.l2_bytes);
    CHECK_FALSE(device.launch_us);
    CHECK(device.memory_type.empty());
    CHECK(device.kernel_times.empty());
    CHECK(device.cudnn_version == DeviceSpec{}.cudnn_version);
  }

  TEST_CASE("the path of the kernel times file is relative to the device file") {
    const test::TemporaryFile file("device.json",
                                   replaced(good, "{", "{\"kernel_times\": \"times/mine.json\","));
    CHECK(load_device(file.path()).kernel_times ==
          file.path().substr(0, file.path().rfind('/')) + "/times/mine.json");
  }

  TEST_CASE("errors name the key") {
    CHECK(message(good) == "no error");
    const auto says = [&](const std::string& from, const std::string& to, const char* part) {
      const std::string text = message(replaced(good, from, to));
      INFO(text);
      CHECK(text.find(part) != text.npos);
    };
    says("\"multiprocessors\"", "\"multiprocesors\"", "Did you mean 'multiprocessors'?");
    says("\"name\": \"mine\",", "", "'name' is missing");
    says("84", "-84", "'multiprocessors' is -84");
    says("84", "84.5", "'multiprocessors' is 84.5");
    says("84", "1e300", "'multiprocessors'");
    says("8.6", "eight", "'compute_capability' is 'eight'");
    says("\"8.6\"", "8.6", "'compute_capability' is not a text");
    says("{", "{\"memory_bytes_per_second\": 0,", "wanted a number above 0");
    says("{", "{\"flops_per_second\": {\"bf61\": 1},", "'bf61'");
    says("{", "{\"clock_hz\": -1,", "'clock_hz'");
    says("{", "{\"l2_bytes\": 1.5,", "'l2_bytes'");
    says("{", "{\"memory_type\": \"DDR4\",", "wanted HBM or GDDR");
    says("{", "", "is not well-formed JSON");
    says(good, "[]", "is not a JSON object");
  }

  TEST_CASE("a written device reads back unchanged") {
    for (const DeviceSpec& device : shipped_devices(folder)) {
      INFO(device.name);
      const test::TemporaryFile file("device.json", to_json(device));
      const DeviceSpec back = load_device(file.path());
      CHECK(back.name == device.name);
      CHECK(back.cuda_name == device.cuda_name);
      CHECK(back.compute_major == device.compute_major);
      CHECK(back.compute_minor == device.compute_minor);
      CHECK(back.multiprocessors == device.multiprocessors);
      CHECK(back.memory_bytes == device.memory_bytes);
      CHECK(back.context_bytes == device.context_bytes);
      CHECK(back.cublas_workspace_bytes == device.cublas_workspace_bytes);
      CHECK(back.cudnn_copies_operands == device.cudnn_copies_operands);
      CHECK(back.l2_bytes == device.l2_bytes);
      CHECK(back.memory_bytes_per_second == device.memory_bytes_per_second);
      CHECK(back.clock_hz == device.clock_hz);
      CHECK(back.power_watts == device.power_watts);
      CHECK(back.memory_type == device.memory_type);
      CHECK(back.source == device.source);
      CHECK(back.kernel_times.empty());
      auto rates = device.flops_per_second;
      std::ranges::sort(rates);
      CHECK(back.flops_per_second == rates);
    }
  }

  TEST_CASE("kernel times may be in the device file, but not in a second file as well") {
    DeviceSpec device = find_device("h100", folder);
    device.is_cpu = true;
    const std::string json = to_json(device, R"({"classes": {"copy": {"interval": 0.1}}})");
    const test::TemporaryFile file("device.json", json);
    const DeviceSpec back = load_device(file.path());
    CHECK(back.kernel_times == file.path());
    CHECK(back.is_cpu);
    CHECK(json.find(R"("copy": {"interval":0.1})") != std::string::npos);
    CHECK(message(replaced(json, "\"classes\"", "\"kernel_times\": \"x.json\", \"classes\""))
              .find("stands beside 'classes'") != std::string::npos);
  }
}
