#include "report/plan/device_json.h"

namespace symprof::report {

void write_device(JsonWriter& json, const DeviceSpec& device, const plan::Budget& budget) {
  json.key("device");
  json.begin_object();
  json.member("name", device.name);
  json.member("memory_bytes", budget.device_bytes);
  json.member("context_bytes", budget.context_bytes);
  json.member("context_is_given", budget.is_context_given);
  json.end_object();
}

}  // namespace symprof::report
