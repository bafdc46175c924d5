// The step of any plan, put together from four recorded ones instead of being recorded.
//
// A plan of single regions leaves out calls that run again, and changes when storages go: nothing
// else. A region that keeps all it saves runs nowhere again. A call whose outputs are kept does not
// run again, and what it made in the forward pass lives as long as what it would have made then.
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
  /// `steps` are alike; `cost_us` and `host` are by call of the one in which all regions run again.
  ComposedStep(const SharedSteps& steps, std::vector<double> cost_us, HostCosts host);

  /// Whether it can have the plan: regions are single ones of the recordings, and nothing is on the
  /// host.
  bool has(const CheckpointPlan& plan) const;
  /// Has the calls of the step in which all regions run again, and the plain step's nodes without
  /// their tensors (composed_nodes.h); calls that do not run are of no operator, and storages that
  /// are not made have no bytes. Holds until the next plan.
  const Recording& compose(const CheckpointPlan& plan);
  /// Of all calls that run again in the step that was composed last, with what the host makes it
  /// wait (host_wait.h).
  double cost_us() const;

 private:
  /// A call of a region that runs again.
  struct CallAgain {
    CallId call = none;
    KeptCall name;
    /// What the forward pass made, and what is made in its place.
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
  std::vector<CallRecord> other_calls_;  // What each call is while it runs, or does not.
  std::vector<std::int64_t> bytes_;      // By storage, where it is made.
  std::vector<double> cost_us_;          // By call.
  HostCosts host_;
  std::size_t first_event_ = 0;  // After those before the step.
  ComposedNodes nodes_;
  StorageEnds ends_;
  std::map<std::string, std::size_t> modules_;
  std::vector<std::vector<CallAgain>> calls_again_;  // By module.
  std::vector<std::size_t> forward_calls_;           // By module.
  // Of the plan:
  std::vector<bool> keeps_calls_;  // By module.
  std::vector<bool> again_;        // By module.
  std::vector<bool> is_left_;      // By call: it does not run.
  std::vector<Moment> end_of_;     // By storage.
};

}  // namespace symprof::plan
