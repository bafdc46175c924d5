// This machine's CPU and memory, from the system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace symprof::measure {

/// "Intel(R) Xeon(R) Processor"; empty if unknown.
std::string processor_name();
std::optional<double> processor_clock_hz();
std::optional<std::int64_t> machine_memory_bytes();
/// Memory available to programs without swapping.
std::optional<std::int64_t> available_memory_bytes();

/// CPU time used by other programs, and by other virtual machines, during this object's lifetime.
class OtherPrograms {
 public:
  OtherPrograms();
  /// Share of all processors' time since construction, 0 to 1. Empty if not available, or too
  /// short.
  std::optional<double> share() const;

 private:
  struct Seconds {
    double all = 0, busy = 0, own = 0;
  };
  static std::optional<Seconds> now();

  std::optional<Seconds> begin_;
};

}  // namespace symprof::measure
