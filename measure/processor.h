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

}  // namespace symprof::measure
