#include "measure/processor.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <numeric>

#include "base/text.h"

namespace symprof::measure {
namespace {

/// The value of a key in /proc/cpuinfo for the first processor.
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

std::optional<std::int64_t> available_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (std::int64_t kib = 0; file >> key >> kib; file.ignore(80, '\n'))
    if (key == "MemAvailable:") return kib << 10;
  return std::nullopt;
}

OtherPrograms::OtherPrograms() : begin_(now()) {}

/// /proc/stat counts ticks of all processors: user, nice, system, idle, iowait, irq, softirq,
/// steal.
std::optional<OtherPrograms::Seconds> OtherPrograms::now() {
  std::ifstream file("/proc/stat");
  std::string key;
  std::array<double, 8> ticks{};
  if (!(file >> key) || key != "cpu") return std::nullopt;
  for (double& count : ticks)
    if (!(file >> count)) return std::nullopt;
  const auto tick = 1 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const double all = std::accumulate(ticks.begin(), ticks.end(), 0.0) * tick;
  rusage own{};
  if (getrusage(RUSAGE_SELF, &own) != 0) return std::nullopt;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return Seconds{.all = all,
                 .busy = all - (ticks[3] + ticks[4]) * tick,
                 .own = seconds(own.ru_utime) + seconds(own.ru_stime)};
}

std::optional<double> OtherPrograms::share() const {
  const std::optional<Seconds> end = now();
  constexpr double least = 0.2;  // Seconds: ticks are hundredths.
  if (!begin_ || !end || end->all - begin_->all < least) return std::nullopt;
  const double others = (end->busy - begin_->busy) - (end->own - begin_->own);
  return std::clamp(others / (end->all - begin_->all), 0.0, 1.0);
}

std::optional<std::int64_t> machine_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page <= 0) return std::nullopt;
  return std::int64_t{pages} * page;
}

}  // namespace symprof::measure
