#include "session/devices.h"

#include "session/paths.h"

namespace symprof {

DeviceSpec find_device(const std::string& name_or_path) {
  return find_device(name_or_path, devices_folder());
}

std::vector<DeviceSpec> find_devices(const std::vector<std::string>& names) {
  std::vector<DeviceSpec> devices;
  if (names == std::vector<std::string>{"all"}) {
    devices = shipped_devices();
    std::erase_if(devices, [](const DeviceSpec& device) { return device.is_cpu; });
    return devices;
  }
  devices.reserve(names.size());
  for (const std::string& name : names) devices.push_back(find_device(name));
  return devices;
}

std::vector<DeviceSpec> shipped_devices() { return shipped_devices(devices_folder()); }

}  // namespace symprof
