// What the program can do with a model file, callable from anywhere:
//
//   Session session("model.pt2");
//   Settings settings;
//   settings.step.optimizer = Optimizer::adamw;
//   Profile profile = session.profile(settings);
//
// Public header.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/device_spec.h"
#include "record/recording.h"
#include "record/step_options.h"
#include "session/devices.h"
#include "session/settings.h"
#include "trace/graph/graph.h"

namespace symprof {

struct CheckpointAnswer;    // session/checkpoint_answer.h
struct CheckpointQuestion;  // session/checkpoint_answer.h
class Error;                // base/error.h
struct FitAnswer;           // session/fit_answer.h
struct FitQuestion;         // session/fit_answer.h
struct OpenedModel;         // session/opened_model.h
struct Profile;             // profile/profile.h
struct ThroughputAnswer;    // session/throughput_answer.h
struct ThroughputQuestion;  // session/throughput_answer.h

namespace measure {
struct Run;         // measure/run.h
struct RunOptions;  // measure/run.h
}  // namespace measure
namespace plan {
struct Budget;  // plan/fit.h
}
namespace profile {
class OperatorTable;  // profile/operators/operators.h
}
namespace trace {
struct BatchPlan;  // trace/passes/other_batch.h
struct ModelFile;  // trace/load.h
}  // namespace trace

/// A model prepared for the settings: ready to run.
struct PreparedModel {
  Graph graph;
  /// The given settings, with mode and device decided where they were open.
  Settings settings;
  /// The settings as given, from which other ranks of a pipeline are prepared.
  Settings given;
};

class Session {
 public:
  /// Opens the file, once, while LibTorch loads on another thread. Throws Error: a file that is
  /// missing, no model or damaged.
  explicit Session(const std::string& path);
  /// A file that was read (trace/load.h).
  explicit Session(trace::ModelFile file);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// The graph as the file has it, its sizes open; null for TorchScript.
  const Graph* file() const;

  /// Runs the model's passes (trace/passes/prepare.h). Throws Error for settings that exclude each
  /// other, a missing shape, and an unknown name.
  PreparedModel prepare(const Settings& settings);

  /// One step of a graph that was prepared, recorded. Throws Error that names the node.
  Recording record(const Graph& graph, const StepOptions& step);
  /// Prepares the model and records one step. Throws the errors of both.
  Recording record(const Settings& settings);

  /// Returns the costs of each node, in bytes, FLOPs and calls. Throws what record() throws, and
  /// Error where a sum exceeds 64 bits.
  Profile profile(const PreparedModel& model);
  Profile profile(const Settings& settings);

  /// Runs and times one step of a prepared model on real tensors, repeatedly. On a GPU, call
  /// want_cuda_kernels() before the first Session. Throws Error that names the node for an
  /// operation that a real step does not support, or (not_available) without such a device.
  measure::Run measure(const PreparedModel& model, const measure::RunOptions& options);

  /// Returns whether the training loop fits devices, and which changes make it fit. Throws what
  /// prepare() and record() throw.
  FitAnswer fit(const Settings& settings, const FitQuestion& question);

  /// Checkpoint plans of least time within budgets (plan/checkpoint/planner.h). Throws what
  /// prepare() and record() throw, and Error where the model has no modules that can be recomputed.
  CheckpointAnswer plan_checkpoint(const Settings& settings, const CheckpointQuestion& question);

  /// Batches from 1 to the largest that fits with a plan. Throws what plan_checkpoint() throws, and
  /// Error where the model's batch is fixed.
  ThroughputAnswer plan_throughput(const Settings& settings, const ThroughputQuestion& question);

 private:
  Graph script(const Settings& settings);
  Graph follow_script(const Settings& settings);
  Graph script_of_other_batch(const Settings& settings, const Error& refusal);
  trace::BatchPlan batch_plan(const Graph& graph, const Settings& settings);
  Mode mode_of(const Settings& settings, const Graph& graph) const;
  PreparedModel prepare_fullest(const Settings& settings);

  std::unique_ptr<OpenedModel> model_;
};

/// Fills the times of `profile`, a step on the device of `settings`, if they request times; `own`
/// are the caller's rules (profile/own_rules.h). Throws Error where the device's file lacks data
/// for times.
void add_times(Profile& profile, const Settings& settings,
               const profile::OperatorTable* own = nullptr);
/// The device of `settings`, or the default device, with the settings' context. Throws Error as
/// find_device.
DeviceSpec device_of(const Settings& settings);
/// The device's memory for tensors, with an allowance for CUDA's context where it is unknown.
/// Throws Error where the device's memory is unknown or the context leaves none of it.
plan::Budget budget_of(const DeviceSpec& device, const profile::LoopOptions& loop);
/// The ONNX operators that can be run, sorted. Throws Error where LibTorch cannot be loaded.
std::vector<std::string> onnx_operators();

}  // namespace symprof
