// The devices that come with the program, found wherever it is installed.
//
// Public header.
#pragma once

#include <string>
#include <vector>

#include "base/device_spec.h"

namespace symprof {

/// The device with this name or from this file (.json). Throws Error that suggests the nearest.
DeviceSpec find_device(const std::string& name_or_path);
/// The devices with these names or from these files; {"all"}: the shipped GPUs. Throws Error as
/// find_device.
std::vector<DeviceSpec> find_devices(const std::vector<std::string>& names);
/// All shipped devices, sorted by name. Throws Error for a damaged file.
std::vector<DeviceSpec> shipped_devices();

}  // namespace symprof
