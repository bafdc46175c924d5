// The words for the enumerations of a profile.
#pragma once

#include <string_view>

#include "plan/rent.h"
#include "profile/profile.h"

namespace symprof::report {

/// "forward", "loss", "backward", "recompute", "optimizer".
std::string_view name(Phase phase);
std::string_view name(LaunchKind launch);         ///< "eager", "graph".
std::string_view name(profile::TimeBasis basis);  ///< "calibrated", "data sheet".
std::string_view name(plan::InTime in_time);      ///< "yes", "likely", "unlikely", "no".
std::string_view name(Confidence confidence);     ///< "exact", "modelled", "free", "unmodelled".
std::string_view name(MemoryCategory category);
/// "NVIDIA H200 SXM 141 GB", or the short name of a device without a description.
std::string_view name(const DeviceSpec& device);

}  // namespace symprof::report
