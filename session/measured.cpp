#include "session/measured.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/error.h"
#include "measure/kineto/kineto.h"
#include "measure/nodes/on_nodes.h"
#include "measure/run.h"

namespace symprof {
namespace {

/// True if the file begins with the schema of a symprof run.
bool is_run(const std::string& path) {
  std::array<char, 64> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size() - 1);
  return std::string_view(begin.data()).find("\"symprof.run/") != std::string_view::npos;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

measure::Measurement read_measurement(const std::string& path, const Profile& profile,
                                      const DeviceSpec& device) {
  measure::Measurement found = read_measurement(path, profile);
  const bool is_of_cpu = found.run == nullptr && found.clock == measure::Measurement::Clock::host;
  if (is_of_cpu && profile.time && !device.is_cpu)
    throw Error(SettingRef{"measured", path},
                fmt::format("it is a CPU's trace, and the estimate is that of {}", device.name),
                fmt::format("Give the CPU with {} (symprof calibrate describes it), or record the "
                            "step on a GPU with ProfilerActivity.CUDA.",
                            setting("device", "cpu.json")));
  return found;
}

measure::Measurement read_measurement(const std::string& path, const Profile& profile) {
  if (is_run(path))
    return measure::measurement_of(measure::parse_run(text_of(path), path), profile.recording);
  return measure::on_nodes(profile.recording, measure::read_kineto(path));
}

}  // namespace symprof
