// Work of a step that found no node.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "measure/measurement.h"
#include "measure/nodes/work.h"

namespace symprof::measure::nodes {

/// Sums unattributed times by name and reason.
class Loose {
 public:
  /// Work from here on is of `step`.
  void begin(const StepOfTrace& step);
  void add(const Trace& trace, const Work& work);
  /// Longest first, of a mean step.
  std::vector<Unattributed> take(std::int64_t steps);

 private:
  std::map<std::pair<std::string, std::string>, Unattributed> entries_;
  std::vector<std::int64_t> launches_;  ///< Of the step's CUDA graphs, in order.
};

}  // namespace symprof::measure::nodes
