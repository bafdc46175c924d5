#include "session/devices.h"

#include "session/paths.h"

namespace symprof {

DeviceSpec find_device(const std::string& name_or_path) {
  return find_device(name_or_path, devices_folder());
}

std::vector<DeviceSpec> shipped_devices() { return shipped_devices(devices_folder()); }

}  // namespace symprof
