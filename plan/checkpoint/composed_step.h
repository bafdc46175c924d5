// The step of any plan, synthesized from four recorded steps instead of being recorded.
//
// A plan of single regions only omits recomputed calls and changes when storages are freed. A
// region that keeps everything it saves recomputes nothing. A call whose outputs are kept is not
// recomputed, and its forward output lives as long as the recomputed one would have.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plan/checkpoint/composed_nodes.h"
#include "plan/checkpoint/shared_steps.h"
#include "plan/checkpoint/storage_ends.h"
#include "plan/checkpoint/trial.h"
#include "record/checkpoint_plan.h"
#include "record/recording.h"

namespace symprof::plan {

class ComposedStep {
 public:
  /// `steps` must be alike; `cost_us` and `host` are by call of the fully checkpointed step.
  ComposedStep(const SharedSteps& steps, std::vector<double> cost_us, HostCosts host);

  /// True if the plan can be composed: its regions are single ones of the recordings, and nothing
  /// is offloaded.
  bool has(const CheckpointPlan& plan) const;
  /// Returns the calls of the fully checkpointed step and the plain step's nodes without their
  /// tensors (composed_nodes.h). Omitted calls have an empty operator, and storages that are not
  /// made have no bytes. Valid until the next plan.
  const Recording& compose(const CheckpointPlan& plan);
  /// The cost of all recomputed calls of the last composed step, waiting for the host included
  /// (host_wait.h).
  double cost_us() const;

 private:
  /// A recomputed call of a region.
  struct CallAgain {
    CallId call = none;
    KeptCall name;
    /// Each forward output with the recomputed output that replaces it.
    std::vector<std::pair<StorageId, StorageId>> outputs;
  };

  void read_calls(const SharedSteps& steps);
  std::vector<std::pair<StorageId, StorageId>> outputs_of(const CallRecord& forward, CallId first,
                                                          CallId again) const;
  void set_runs(CallId call, bool runs);
  void choose_calls(const CheckpointPlan& plan);
  void choose_nodes();
  void choose_ends();
  void write_events();

  Recording step_;
  std::vector<CallRecord>
      other_calls_;  // Each call in its other form: omitted if it runs in the plain step, else run.
  std::vector<std::int64_t> bytes_;  // By storage, where it is made.
  std::vector<double> cost_us_;      // By call.
  HostCosts host_;
  std::size_t first_event_ = 0;  // The first event after those before the step.
  ComposedNodes nodes_;
  StorageEnds ends_;
  std::map<std::string, std::size_t> modules_;
  std::vector<std::vector<CallAgain>> calls_again_;  // By module.
  std::vector<std::size_t> forward_calls_;           // By module.
  // State of the current plan:
  std::vector<bool> keeps_calls_;  // By module.
  std::vector<bool> again_;        // By module.
  std::vector<bool> is_left_;      // By call: it is omitted.
  std::vector<Moment> end_of_;     // By storage.
};

}  // namespace symprof::plan
