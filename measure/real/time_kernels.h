// Times single kernels on a real device.
#pragma once

#include <memory>
#include <string>

#include "measure/kernel_runner.h"

namespace symprof::measure {

/// Throws Error (not_available) if there is no such device.
std::unique_ptr<KernelRunner> time_kernels(const std::string& device);

}  // namespace symprof::measure
