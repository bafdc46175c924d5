#include "measure/processor.h"

#include <unistd.h>

#include <charconv>
#include <fstream>

#include "base/text.h"

namespace symprof::measure {
namespace {

/// What stands behind a key of /proc/cpuinfo for the first processor.
std::string processor_property(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key))
      return std::string(trimmed(std::string_view(line).substr(line.find(':') + 1)));
  return {};
}

}  // namespace

std::string processor_name() { return processor_property("model name"); }

std::optional<double> processor_clock_hz() {
  const std::string megahertz = processor_property("cpu MHz");
  double value = 0;
  const auto [end, error] =
      std::from_chars(megahertz.data(), megahertz.data() + megahertz.size(), value);
  if (error != std::errc() || value <= 0) return std::nullopt;
  return value * 1e6;
}

std::optional<std::int64_t> machine_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page <= 0) return std::nullopt;
  return std::int64_t{pages} * page;
}

}  // namespace symprof::measure
