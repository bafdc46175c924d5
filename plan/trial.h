// The interface for what-if questions: takes a typed change, returns its results.
#pragma once

#include "plan/change.h"
#include "profile/memory/step_memory.h"
#include "profile/step_time.h"
#include "record/recording.h"
#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::plan {

/// How a model is run: the facts that a change depends on.
struct Situation {
  StepOptions step;
  profile::LoopOptions loop;
  bool is_cast = false;  ///< The model was converted to another dtype.
};

/// One model on one device, run in different ways.
class Trial {
 public:
  virtual ~Trial() = default;
  /// How the model is run without a change.
  virtual const Situation& situation() const = 0;
  /// The graph that runs without a change.
  virtual const Graph& graph() const = 0;
  /// The user's name of the dimension with this symbol; the symbol itself where the user gives
  /// none.
  virtual std::string name_of(const std::string& symbol) const = 0;
  /// The size that the user gave for the dimension; empty: none.
  virtual std::optional<std::int64_t> given_size(const std::string& name) const = 0;

  /// Records a step with `change`. Throws Error where the model does not run so.
  virtual Recording record(const Change& change) = 0;
  /// The loop around that step.
  virtual profile::LoopOptions loop(const Change& change) const = 0;
  /// The time of a recorded step; empty if times are not requested. Throws Error where the device's
  /// file lacks values that times need.
  virtual std::optional<StepTime> time(const Recording& recording) = 0;
};

}  // namespace symprof::plan
