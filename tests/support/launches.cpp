#include "tests/support/launches.h"

#include <doctest/doctest.h>

#include "profile/operators/operators.h"
#include "profile/profile.h"
#include "tests/support/source_folder.h"

namespace symprof::test {

using namespace symprof::profile;

DeviceSpec device_with(std::initializer_list<const char*> dtypes) {
  DeviceSpec device;
  device.kernel_clocks = std::make_shared<const KernelClocks>(
      load_kernel_clocks(source_folder() + "/devices/clocks/h200.json"));
  for (const char* dtype : dtypes) device.flops_per_second.emplace_back(dtype, 1e12);
  return device;
}

const DeviceSpec& modern_device() {
  static const DeviceSpec device =
      device_with({"float32", "tf32", "bfloat16", "float16", "float64"});
  return device;
}

LaunchEstimate launches_of(RecordingBuilder& b, const DeviceSpec& device) {
  const CallRecord& record = b.recording().calls.back();
  const Operator found = find_operator(b.recording().ops[record.op]);
  REQUIRE(static_cast<bool>(found.launches));
  const Call call(b.recording(), record);
  Cost cost;
  if (const Estimate estimate = found.flops->estimate(call)) cost = *estimate;
  cost.confidence = found.flops->confidence;
  return found.launches(call, cost, device);
}

LaunchEstimate launches_of(const std::string& op, const std::vector<TestArgument>& arguments,
                           const std::vector<TensorSpec>& outputs, const DeviceSpec& device) {
  RecordingBuilder b;
  b.call(op, arguments, outputs, b.node("node"));
  return launches_of(b, device);
}

}  // namespace symprof::test
