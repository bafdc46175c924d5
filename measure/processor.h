// What the system says of this machine's CPU and memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace symprof::measure {

/// "Intel(R) Xeon(R) Processor"; empty where the system does not say.
std::string processor_name();
std::optional<double> processor_clock_hz();
std::optional<std::int64_t> machine_memory_bytes();
/// What programs can have of it now without taking it from each other.
std::optional<std::int64_t> available_memory_bytes();

/// What other programs, and on a virtual machine other machines, take of the processors meanwhile.
class OtherPrograms {
 public:
  OtherPrograms();
  /// Of all processors' time since its begin, 0 to 1. Empty where the system does not count it, or
  /// has counted too little so far.
  std::optional<double> share() const;

 private:
  struct Seconds {
    double all = 0, busy = 0, own = 0;
  };
  static std::optional<Seconds> now();

  std::optional<Seconds> begin_;
};

}  // namespace symprof::measure
