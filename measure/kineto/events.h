// The events of a trace file as records, not yet linked. Unifies the names of categories and
// arguments, which differ between PyTorch versions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/trace.h"

namespace symprof::measure::kineto {

/// A call of CUDA's runtime or driver.
struct HostCall {
  std::string name;
  std::int32_t thread = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t correlation = 0;
};

struct Events {
  std::string device_name;
  std::vector<Thread> threads;
  std::vector<Operator> operators;  ///< In file order, not yet linked.
  /// By operator: tie-break for the outer of two ranges with equal times.
  std::vector<std::int64_t> order;
  std::vector<HostCall> calls;
  std::vector<Activity> activities;                        ///< In file order, not yet linked.
  std::vector<std::optional<std::uint32_t>> correlations;  ///< By activity.
  std::vector<std::vector<OperatorArgument>> arguments;    ///< Distinct; operators refer to them.
  std::int64_t unreadable = 0;  ///< Events of these kinds without a time.
};

/// Reads a trace that torch.profiler wrote (Chrome's trace event format, with Kineto's categories).
/// Throws Error with the place where the file is broken.
Events read_events(const std::string& path, Arguments arguments);
/// The same for a text; `path` is for messages.
Events parse_events(const std::string& text, const std::string& path, Arguments arguments);

}  // namespace symprof::measure::kineto
