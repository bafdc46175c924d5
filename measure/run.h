// A step that really ran: how long each node took, and the whole step.
//
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "measure/measurement.h"

namespace symprof::measure {

struct RunOptions {
  std::int64_t steps = 10;  ///< That are timed whole, and as many again call by call.
  std::int64_t warm_up = 2;
};

/// A node of the recording of the same graph, in the same place.
struct NodeRun {
  std::string name, op;
  Times times;  ///< Medians over the steps.
};

struct Run {
  std::string model;
  std::string device;        ///< "cpu".
  std::string processor;     ///< As the system calls it; empty where it does not.
  std::int64_t threads = 1;  ///< That operators use.
  std::string torch_version;
  std::vector<double> step_us;  ///< Of each step without a clock at its calls, as they ran.
  std::vector<NodeRun> nodes;   ///< By NodeId.

  double median_step_us() const;
  /// Of the step: half of all lie between the two.
  double lower_quartile_us() const;
  double upper_quartile_us() const;
};

/// `run` as the times of the nodes of `recording`. What the step takes outside of its operators is
/// no node's. Throws Error where the run is of another model.
Measurement measurement_of(const Run& run, const Recording& recording);

/// A run as JSON, schema symprof.run/1, and back. Reading throws Error that names the key.
std::string to_json(const Run& run);
Run parse_run(const std::string& json, const std::string& path);

}  // namespace symprof::measure
