#include "report/profile/names.h"

namespace symprof::report {

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return "forward";
    case Phase::loss:
      return "loss";
    case Phase::backward:
      return "backward";
    case Phase::recompute:
      return "recompute";
    case Phase::optimizer:
      return "optimizer";
  }
  return "?";
}

std::string_view name(LaunchKind launch) { return launch == LaunchKind::graph ? "graph" : "eager"; }

std::string_view name(profile::TimeBasis basis) {
  return basis == profile::TimeBasis::calibrated ? "calibrated" : "data sheet";
}

std::string_view name(plan::InTime in_time) {
  switch (in_time) {
    case plan::InTime::yes:
      return "yes";
    case plan::InTime::likely:
      return "likely";
    case plan::InTime::unlikely:
      return "unlikely";
    case plan::InTime::no:
      return "no";
  }
  return "?";
}

std::string_view name(Confidence confidence) {
  switch (confidence) {
    case Confidence::exact:
      return "exact";
    case Confidence::modelled:
      return "modelled";
    case Confidence::free:
      return "free";
    case Confidence::unmodelled:
      return "unmodelled";
  }
  return "?";
}

std::string_view name(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::parameters:
      return "parameters";
    case MemoryCategory::buffers:
      return "buffers";
    case MemoryCategory::inputs:
      return "inputs";
    case MemoryCategory::gradients:
      return "gradients";
    case MemoryCategory::optimizer:
      return "optimizer";
    case MemoryCategory::kv_cache:
      return "kv_cache";
    case MemoryCategory::activations:
      return "activations";
    case MemoryCategory::temporaries:
      return "temporaries";
    case MemoryCategory::workspace:
      return "workspace";
    case MemoryCategory::communication:
      return "communication";
    case MemoryCategory::persistent:
      return "persistent";
  }
  return "?";
}

std::string_view name(const DeviceSpec& device) {
  return device.description.empty() ? device.name : device.description;
}

}  // namespace symprof::report
