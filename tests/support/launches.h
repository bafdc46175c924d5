#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "profile/cost/time/launches.h"
#include "tests/support/recording_builder.h"

namespace symprof::test {

/// A device that has units for these types, and nothing else.
DeviceSpec device_with(std::initializer_list<const char*> dtypes);

/// With all types that a rule of times asks for.
const DeviceSpec& modern_device();

/// The launches of the builder's last call; empty where its time is not known.
profile::LaunchEstimate launches_of(RecordingBuilder& b,
                                    const DeviceSpec& device = modern_device());

/// Of one call.
profile::LaunchEstimate launches_of(const std::string& op,
                                    const std::vector<TestArgument>& arguments,
                                    const std::vector<TensorSpec>& outputs,
                                    const DeviceSpec& device = modern_device());

}  // namespace symprof::test
