// How a plan asks what would be: a typed change in, what comes of it out.
#pragma once

#include "plan/change.h"
#include "profile/memory/step_memory.h"
#include "profile/step_time.h"
#include "record/recording.h"
#include "record/step_options.h"
#include "trace/graph/graph.h"

namespace symprof::plan {

/// How a model is run: what a change of it has to know.
struct Situation {
  StepOptions step;
  profile::LoopOptions loop;
  bool is_cast = false;  ///< The model was given another dtype than its own.
};

/// One model on one device, run in different ways.
class Trial {
 public:
  virtual ~Trial() = default;
  /// How the model is run without a change.
  virtual const Situation& situation() const = 0;
  /// The graph that runs without a change.
  virtual const Graph& graph() const = 0;
  /// What the user calls the dimension with this symbol; the symbol itself where the user does not.
  virtual std::string name_of(const std::string& symbol) const = 0;
  /// The size that the user gave the dimension; empty where none was given.
  virtual std::optional<std::int64_t> given_size(const std::string& name) const = 0;

  /// A step with `change`. Throws Error where the model does not run so.
  virtual Recording record(const Change& change) = 0;
  /// The loop around that step.
  virtual profile::LoopOptions loop(const Change& change) const = 0;
  /// How long a step that was recorded takes; empty where nobody asks. Throws Error where the
  /// device's file lacks what times need.
  virtual std::optional<StepTime> time(const Recording& recording) = 0;
};

}  // namespace symprof::plan
