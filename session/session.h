// What the program can do with a model file, callable from anywhere:
//
//   Session session("model.pt2");
//   Settings settings;
//   settings.step.optimizer = Optimizer::adamw;
//   Profile profile = session.profile(settings);
//
// Public header.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "measure/run.h"
#include "plan/checkpoint/alternatives.h"
#include "plan/checkpoint/knee.h"
#include "plan/fit.h"
#include "plan/rent.h"
#include "profile/operators/operators.h"
#include "profile/profile.h"
#include "session/devices.h"
#include "session/settings.h"
#include "session/torch_library.h"
#include "trace/load.h"
#include "trace/passes/other_batch.h"

namespace symprof {

/// A model prepared for the settings: ready to run.
struct PreparedModel {
  Graph graph;
  /// The given settings, with mode and device decided where they were open.
  Settings settings;
  /// The settings as given, from which other ranks of a pipeline are prepared.
  Settings given;
};

/// The question of Session::fit: does a training loop fit devices?
struct FitQuestion {
  /// Devices to answer for; empty: the device of the settings.
  std::vector<DeviceSpec> devices;
  /// The dimension whose maximum is searched, named as in sizes, or "kv-cache"; may be empty.
  std::string largest;
  /// True: also search the largest size with a checkpoint plan for each size.
  bool with_plans = false;
  /// If set, a step is timed with the largest batch that fits, unless `largest` names another
  /// dimension; with the given batch where the batch is fixed.
  plan::Job job;
};

struct FitAnswer {
  Settings settings;                     ///< Settings of the run: see PreparedModel.
  std::vector<plan::FitReport> reports;  ///< One for each device.
  plan::Job job;                         ///< The given job.
};

/// The question of Session::checkpoint: which activations to keep and which to recompute.
struct CheckpointQuestion {
  /// Device memory of the process, CUDA's context included, in bytes. Empty: the device's memory
  /// for one budget, and the curve over all of them.
  std::vector<std::int64_t> budgets;
  /// Modules that may be recomputed; empty: plan::regions_of chooses them.
  std::vector<std::string> regions;
  /// False: whole modules are recomputed, as shape/step/checkpoint.h does in C++.
  bool keeps_calls = true;
  /// False: each module is a segment of its own, as with Python's hooks.
  bool joins_modules = true;
  /// True: checkpoint inputs and saved tensors may be offloaded to host memory.
  bool offloads = false;
  /// Points of the curve; 0: no curve.
  int curve_points = 20;
  /// True: alternatives are simulated beside the first budget's plan. Without a budget, Rotor gets
  /// the memory of the curve's knee.
  bool wants_alternatives = true;
  /// True: also plan with expandable segments (CheckpointAnswer::expandable).
  bool tries_expandable = false;
};

struct CheckpointAnswer {
  Settings settings;  ///< As they ran: see PreparedModel.
  DeviceSpec device;
  std::string model;
  std::vector<std::string> regions;                       ///< Modules that may be recomputed.
  std::map<std::string, plan::CallNumbers> call_numbers;  ///< By region.
  std::vector<plan::NotTried> left_out;                   ///< Modules that cannot, and why.
  std::size_t block_types = 0;
  plan::SimulatedPlan plain, all_again;
  double plain_step_us = 0;
  bool offloads = false;  ///< As it was asked.
  /// The step is host-bound: times are those of the host that issues the calls.
  bool waits_for_host = false;
  bool uses_cublas = false;        ///< cuBLAS keeps a workspace for each thread.
  std::int64_t unknown_calls = 0;  ///< Without a time.
  std::int64_t context_bytes = 0;  ///< Set aside of each budget.
  bool is_context_given = false;
  std::vector<plan::PlanAnswer> answers;  ///< By budget; these budgets exclude the context.
  /// By budget: the plan that fits it in less time with `expandable_segments:True`, or at all.
  /// Empty where none does, and where the settings choose the segments.
  std::vector<std::optional<plan::SimulatedPlan>> expandable;
  std::vector<plan::PlanAnswer> curve;              ///< Ascending in memory.
  std::vector<plan::AlternativePlan> alternatives;  ///< Within the first budget.
  std::size_t plans_simulated = 0;
  Recording recording;  ///< The plain step.
  /// Lower bound of the memory with any plan that recomputes regions one by one, with its call, and
  /// the memory of the plain step at that call. Empty: unknown.
  std::optional<plan::Window> least;
  MemoryBreakdown plain_at_least;
};

/// The question of Session::throughput: the batch with the most samples per second, each with the
/// fastest checkpoint plan that fits.
struct ThroughputQuestion {
  std::vector<DeviceSpec> devices;  ///< Empty: the device of the settings.
  /// Memory of the process on each device, CUDA's context included; empty: all of the device's
  /// memory.
  std::optional<std::int64_t> budget_bytes;
  std::vector<std::string> regions;  ///< As in CheckpointQuestion.
};

struct ThroughputAnswer {
  /// One batch that fits.
  struct Row {
    std::int64_t batch = 0;
    double plain_step_us = 0;  ///< Of the step without recomputation.
    plan::SimulatedPlan plan;  ///< Empty: it fits without.

    double step_us() const { return plain_step_us + plan.cost_us; }
    double samples_per_second() const { return 1e6 * static_cast<double>(batch) / step_us(); }
  };
  struct OfDevice {
    DeviceSpec device;
    std::vector<Row> rows;                ///< By batch: the last is the largest that fits.
    std::optional<std::int64_t> refused;  ///< The smallest batch that does not fit.
    std::string refusal;  ///< Why the model does not run with it; empty: memory is missing.
    std::int64_t unknown_calls = 0;  ///< Without a time, in the smallest batch.

    const Row* fastest() const;  ///< Null where nothing fits.
  };
  Settings settings;  ///< As they ran: see PreparedModel.
  std::string model;
  std::vector<OfDevice> devices;
};

class Session {
 public:
  /// Opens the file, once, while LibTorch loads on another thread. Throws Error: a file that is
  /// missing, no model or damaged.
  explicit Session(const std::string& path);
  /// A file that was read (trace/load.h).
  explicit Session(trace::ModelFile file) : file_(std::move(file)) {}

  /// The graph as the file has it, its sizes open; null for TorchScript.
  const Graph* file() const { return file_.graph ? &*file_.graph : nullptr; }

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
  Profile profile(const Settings& settings) { return profile(prepare(settings)); }

  /// Runs and times one step of a prepared model on real tensors, repeatedly. On a GPU, call
  /// want_cuda_kernels() before the first Session. Throws Error that names the node for an
  /// operation that a real step does not support, or (not_available) without such a device.
  measure::Run measure(const PreparedModel& model, const measure::RunOptions& options = {});

  /// Returns whether the training loop fits devices, and which changes make it fit. Throws what
  /// prepare() and record() throw.
  FitAnswer fit(const Settings& settings, const FitQuestion& question = {});

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

  TorchLibrary torch_;  // Starts while the file is read.
  trace::ModelFile file_;
  /// Keyed by the other settings that determine the graph: a batch plan costs several runs of it.
  std::map<std::string, trace::BatchPlan> batch_plans_;
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
