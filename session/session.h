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

/// A model as the settings ask for it: ready to run.
struct PreparedModel {
  Graph graph;
  /// The settings that were given; mode and device are decided where they were left open.
  Settings settings;
  /// As they were given, with which other ranks of a pipeline are prepared.
  Settings given;
};

/// What a training loop is to fit into.
struct FitQuestion {
  /// All of them are answered for; empty: the device of the settings.
  std::vector<DeviceSpec> devices;
  /// The dimension whose largest size is asked for, as sizes name it, or "kv-cache"; may be empty.
  std::string largest;
  /// Whether the largest size is also looked for with a checkpoint plan for each size.
  bool with_plans = false;
  /// Where something is asked for here, a step is timed with the largest batch that fits, unless
  /// `largest` names another dimension; with the batch as given where it cannot be another one.
  plan::Job job;
};

struct FitAnswer {
  Settings settings;                     ///< As they ran: see PreparedModel.
  std::vector<plan::FitReport> reports;  ///< One for each device.
  plan::Job job;                         ///< As it was asked.
};

/// Which activations are to be kept, and which computed again.
struct CheckpointQuestion {
  /// What the process may take of the device, CUDA's context with it. Empty: the device's memory
  /// for one budget, and the curve over all of them.
  std::vector<std::int64_t> budgets;
  /// Modules that may run again; empty: those that plan::regions_of finds.
  std::vector<std::string> regions;
  /// False: modules run again as a whole or not at all, as shape/step/checkpoint.h does it in C++.
  bool keeps_calls = true;
  /// False: a plan runs each module again by itself, as Python's hooks do.
  bool joins_modules = true;
  /// Inputs of what runs again, and saved tensors, may wait in host memory.
  bool offloads = false;
  /// Points of the curve; 0: no curve.
  int curve_points = 20;
  /// Whether other ways are carried out beside the first budget's plan. Without a budget, rotor has
  /// the memory of the curve's knee.
  bool wants_alternatives = true;
  /// Whether budgets are also planned for with segments that grow (CheckpointAnswer::expandable).
  bool tries_expandable = false;
};

struct CheckpointAnswer {
  Settings settings;  ///< As they ran: see PreparedModel.
  DeviceSpec device;
  std::string model;
  std::vector<std::string> regions;                       ///< Modules that may run again.
  std::map<std::string, plan::CallNumbers> call_numbers;  ///< By region.
  std::vector<plan::NotTried> left_out;                   ///< Modules that cannot, and why.
  std::size_t block_types = 0;
  plan::PlayedPlan plain, all_again;
  double plain_step_us = 0;
  bool offloads = false;           ///< As it was asked.
  bool waits_for_host = false;     ///< Times are those of the host that issues the calls.
  bool uses_cublas = false;        ///< Which keeps a workspace for each thread.
  std::int64_t unknown_calls = 0;  ///< Without a time.
  std::int64_t context_bytes = 0;  ///< Set aside of each budget.
  bool is_context_given = false;
  std::vector<plan::PlanAnswer> answers;  ///< By budget; budgets there are without the context.
  /// By budget: what holds it for less time with `expandable_segments:True`, or at all. Empty where
  /// nothing does, and where the settings say which segments there are.
  std::vector<std::optional<plan::PlayedPlan>> expandable;
  std::vector<plan::PlanAnswer> curve;              ///< Ascending in memory.
  std::vector<plan::AlternativePlan> alternatives;  ///< Within the first budget.
  std::size_t plans_played = 0;
  Recording recording;  ///< The plain step.
  /// What is held at a call of the plain step whatever runs again, the regions each by themselves,
  /// and what the plain step holds there. Empty: nothing is known.
  std::optional<plan::Window> least;
  MemoryBreakdown plain_at_least;
};

/// Which batch does the most samples a second, each with the checkpoint plan of least time that
/// fits.
struct ThroughputQuestion {
  std::vector<DeviceSpec> devices;  ///< Empty: the device of the settings.
  /// What the process may take of each device, CUDA's context with it; empty: all of its memory.
  std::optional<std::int64_t> budget_bytes;
  std::vector<std::string> regions;  ///< As in CheckpointQuestion.
};

struct ThroughputAnswer {
  /// One batch that fits.
  struct Row {
    std::int64_t batch = 0;
    double plain_step_us = 0;  ///< Of the step in which nothing runs again.
    plan::PlayedPlan plan;     ///< Empty: it fits without.

    double step_us() const { return plain_step_us + plan.cost_us; }
    double samples_per_second() const { return 1e6 * static_cast<double>(batch) / step_us(); }
  };
  struct OfDevice {
    DeviceSpec device;
    std::vector<Row> rows;  ///< Those that were tried, by batch: the last is the largest that fits.
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

  /// The model with its passes run (trace/passes/prepare.h). Throws Error for settings that exclude
  /// each other, a shape that is missing, a name that the model does not have.
  PreparedModel prepare(const Settings& settings);

  /// One step of a graph that was prepared, recorded. Throws Error that names the node.
  Recording record(const Graph& graph, const StepOptions& step);
  /// Prepares the model and records one step of it. Throws what the two throw.
  Recording record(const Settings& settings);

  /// What each node costs, in bytes, FLOPs and calls. Throws what record() throws, and Error where
  /// a sum exceeds 64 bits.
  Profile profile(const PreparedModel& model);
  Profile profile(const Settings& settings) { return profile(prepare(settings)); }

  /// One step of a model that was prepared, on real tensors, timed again and again. On a GPU,
  /// want_cuda_kernels() has to come before the first Session. Throws Error that names the node,
  /// what a real step does not have, or (not_available) that there is no such device.
  measure::Run measure(const PreparedModel& model, const measure::RunOptions& options = {});

  /// Whether the training loop fits into devices, and what would make it fit. Throws what prepare()
  /// and record() throw.
  FitAnswer fit(const Settings& settings, const FitQuestion& question = {});

  /// Checkpoint plans of least time within budgets (plan/checkpoint/planner.h). Throws what
  /// prepare() and record() throw, and Error where the model has no modules to run again.
  CheckpointAnswer plan_checkpoint(const Settings& settings, const CheckpointQuestion& question);

  /// Batches from 1 to the largest that fits with a plan. Throws what plan_checkpoint() throws, and
  /// Error where the model has no batch that could be another one.
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
  /// By what else decides the graph: plans cost several runs of it.
  std::map<std::string, trace::BatchPlan> batch_plans_;
};

/// Fills the times of `profile`, a step on the device of `settings`, where they ask for them; `own`
/// are rules of the caller (profile/own_rules.h).
/// Throws Error where the device's file lacks what times need.
void add_times(Profile& profile, const Settings& settings,
               const profile::OperatorTable* own = nullptr);
/// The device of `settings`, or the default one where they name none, with what they say of its
/// context. Throws Error as find_device.
DeviceSpec device_of(const Settings& settings);
/// What of the device's memory a program has for tensors, with an allowance for CUDA's context
/// where nothing says what that takes. Throws Error where the device's memory is not known, or
/// nothing of it is left.
plan::Budget budget_of(const DeviceSpec& device, const profile::LoopOptions& loop);
/// The ONNX operators that can be run, sorted. Throws Error where LibTorch cannot be loaded.
std::vector<std::string> onnx_operators();

}  // namespace symprof
