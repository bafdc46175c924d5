// The device that a fit is about, in JSON.
#pragma once

#include "base/device_spec.h"
#include "plan/fit.h"
#include "report/write/json_writer.h"

namespace symprof::report {

/// The member "device".
void write_device(JsonWriter& json, const DeviceSpec& device, const plan::Budget& budget);

}  // namespace symprof::report
