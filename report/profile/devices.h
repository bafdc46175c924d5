// The known target devices, as a table, JSON or CSV.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "base/device_spec.h"
#include "report/write/layout.h"

namespace symprof::report {

void write_devices(fmt::memory_buffer& out, const std::vector<DeviceSpec>& devices,
                   const Layout& layout);
/// Schema symprof.devices/1: null for values that a device file omits.
void write_devices_json(fmt::memory_buffer& out, const std::vector<DeviceSpec>& devices);

}  // namespace symprof::report
