// The verb fit: simulates a training loop on devices.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "plan/fitting.h"
#include "plan/rent.h"
#include "profile/profile.h"
#include "profile/step_time.h"
#include "session/batch_name.h"
#include "session/checkpoint_answer.h"
#include "session/fit_answer.h"
#include "session/session.h"
#include "session/setting_table.h"
#include "trace/graph/named_sizes.h"
#include "trace/passes/other_batch.h"

namespace symprof {
namespace {

using profile::operator""_MiB;

/// Memory set aside for CUDA's context unless the user gives it: more than the 426 to 640 MiB that
/// people report for a process with PyTorch's kernels loaded. No device file has measured it.
constexpr std::int64_t context_allowance_bytes = 1024_MiB;

/// A size replaces the one of the same name; any other setting is read as if it were given once
/// more.
void make(Settings& settings, const plan::Change& change) {
  for (const SettingRef& given : change.settings) {
    if (given.name == "sizes") {
      const auto [name, size] = trace::parse_binding(given.value);
      set_size(settings, name, size);
    } else {
      settings::set(settings, given.name, given.value);
    }
  }
}

bool alters_graph(const plan::Change& change) {
  return std::ranges::any_of(change.settings, [](const SettingRef& given) {
    return settings::find(given.name).alters == settings::Alters::graph;
  });
}

class DeviceTrial final : public plan::Trial {
 public:
  DeviceTrial(Session& session, const PreparedModel& model, const DeviceSpec& device)
      : session_(session), model_(model), settings_(model.settings) {
    settings_.step.device = device;
    situation_ = {
        .step = settings_.step, .loop = settings_.loop, .is_cast = settings_.dtype.has_value()};
  }

  const plan::Situation& situation() const override { return situation_; }
  const Graph& graph() const override { return model_.graph; }

  std::string name_of(const std::string& symbol) const override {
    for (const auto& [name, size] : settings_.sizes)
      if (trace::symbol_of(model_.graph, name) == symbol) return name;
    return symbol;
  }

  std::optional<std::int64_t> given_size(const std::string& name) const override {
    return symprof::given_size(settings_, name);
  }

  Recording record(const plan::Change& change) override {
    const Settings changed = with(change);
    if (alters_graph(change)) return session_.record(changed);
    return session_.record(model_.graph, changed.step);
  }

  profile::LoopOptions loop(const plan::Change& change) const override { return with(change).loop; }

  std::optional<StepTime> time(const Recording& recording) override {
    if (!settings_.time) return std::nullopt;
    Profile profile = profile::evaluate_costs(recording);
    add_times(profile, settings_);
    return profile.time;
  }

 private:
  Settings with(const plan::Change& change) const {
    Settings changed = settings_;
    make(changed, change);
    return changed;
  }

  Session& session_;
  const PreparedModel& model_;
  Settings settings_;
  plan::Situation situation_;
};

/// `model`; where the file fixes the batch whose maximum is searched, with that batch opened.
/// Throws Error where the model does not run with twice the batch.
PreparedModel with_open_batch(Session& session, Settings settings, const std::string& largest,
                              PreparedModel model) {
  const std::optional<std::int64_t> batch =
      largest == "batch" ? trace::fixed_batch(model.graph) : std::nullopt;
  if (!batch) return model;
  try {
    set_size(settings, largest, 2 * *batch);
    session.prepare(settings);
  } catch (const Error& error) {
    plan::throw_of_largest(error, largest);
  }
  set_size(settings, largest, *batch);
  return session.prepare(settings);
}

/// The model at the given sizes; the dimension whose maximum is searched is 1 where neither the
/// settings nor the file give a size.
PreparedModel model_to_fit(Session& session, Settings settings, const std::string& largest) {
  if (largest == plan::cache_dimension && !settings.step.kv_cache) settings.step.kv_cache = 1;
  const bool is_size = !largest.empty() && largest != plan::cache_dimension;
  if (!is_size || given_size(settings, largest)) return session.prepare(settings);
  std::optional<PreparedModel> model;
  try {
    model = session.prepare(settings);
  } catch (const Error&) {
    // The dimension lacks a size, or preparing fails for another reason and throws again.
    set_size(settings, largest, 1);
  }
  if (model) return with_open_batch(session, settings, largest, std::move(*model));
  try {
    return session.prepare(settings);
  } catch (const Error& error) {
    plan::throw_of_largest(error, largest);
  }
}

}  // namespace

std::string batch_to_find(Session& session, Settings settings) {
  std::optional<PreparedModel> model;
  try {
    model = session.prepare(settings);
  } catch (const Error&) {
    set_size(settings, "batch", 1);  // It may be the size that is missing.
  }
  try {
    if (!model) return session.prepare(settings), "batch";
    if (const auto batch = trace::batch_dimension(model->graph))
      return trace::symbol_of(model->graph, "batch") == batch->symbol ? "batch" : batch->symbol;
    if (!trace::fixed_batch(model->graph)) return {};
    with_open_batch(session, settings, "batch", std::move(*model));
    return "batch";
  } catch (const Error&) {
    return {};
  }
}

namespace {

void check_job(const Settings& settings, const plan::Job& job) {
  if (settings.time && settings.loop.micro_batches > 1)
    throw Error(SettingRef{"time"}, "times are of one backward pass for each update.",
                fmt::format("Leave {} out.", setting("micro_batches")));
  if (job.deadline_seconds && !job.samples)
    throw Error(SettingRef{"deadline"}, "nothing says how much is to be done by then.",
                fmt::format("Add {}.", setting("samples", "1000000")));
}

/// True if the settings leave the checkpoint plan open.
bool is_open_to_plans(const StepOptions& step) {
  return step.mode != Mode::inference && step.checkpoint.empty() &&
         step.checkpoint_plan.is_empty() && step.offload_saved.empty();
}

void check_plans(const FitQuestion& question, const std::string& largest, const StepOptions& step) {
  if (!question.with_plans) return;
  if (largest.empty() || largest == plan::cache_dimension)
    throw Error(SettingRef{"plan"}, "is about the largest size that fits.",
                fmt::format("Name a size with {}.", setting("max", "batch")));
  if (!is_open_to_plans(step))
    throw Error(SettingRef{"plan"}, "nothing is left to be chosen.",
                "Plans are for steps with a backward pass, without checkpoints of their own.");
}

/// The plan for the device of `settings` within the available memory.
plan::OfferedPlan plan_within(Session& session, const Settings& settings,
                              const plan::Budget& budget) {
  const CheckpointAnswer answer = session.plan_checkpoint(
      settings, {.budgets = {budget.available_bytes() + budget.context_bytes},
                 .curve_points = 0,
                 .wants_alternatives = false});
  return {answer.answers.front(), answer.plain_step_us,
          answer.least ? std::optional(answer.least->bytes) : std::nullopt};
}

void offer_plan(Session& session, Settings settings, plan::FitReport& report) {
  settings.step.device = report.device;
  try {
    report.plan = plan_within(session, settings, report.budget);
  } catch (const Error& error) {
    report.not_tried.push_back({{{{"checkpoint", "plan.json"}}}, error.summary(unspelled)});
  }
}

/// Searches from the largest size that fits without a plan, or from the given size.
void find_largest_with_plan(Session& session, Settings settings, plan::FitReport& report,
                            std::int64_t given) {
  settings.step.device = report.device;
  plan::PlannedSize found;
  std::string refusal;
  const auto fits = [&](std::int64_t size) {
    set_size(settings, report.dimension, size);
    refusal.clear();
    try {
      plan::OfferedPlan plan = plan_within(session, settings, report.budget);
      if (!plan.answer.best) return false;
      found.plan = std::move(plan);
      return true;
    } catch (const Error& error) {
      refusal = error.summary(unspelled);
      return false;
    }
  };
  found.size = plan::find_largest_size(report.largest->fits.value_or(given), std::nullopt, fits);
  found.size.refusal = refusal;
  report.largest_with_plan = std::move(found);
}

}  // namespace

plan::Budget budget_of(const DeviceSpec& device, const profile::LoopOptions& loop) {
  if (device.memory_bytes == 0)
    throw Error(device.name, "this device's file does not say how much memory it has.",
                "Give it \"memory_bytes\", or choose a device that has it: symprof devices.");
  const plan::Budget budget{.device_bytes = device.memory_bytes,
                            .context_bytes = device.context_bytes.value_or(context_allowance_bytes),
                            .is_context_given = device.context_bytes.has_value(),
                            .fraction = loop.allocator.per_process_memory_fraction};
  if (budget.available_bytes() <= 0)
    throw Error(SettingRef{"context"}, "leaves nothing of the device's memory.",
                "Give a smaller one.");
  return budget;
}

FitAnswer Session::fit(const Settings& settings, const FitQuestion& question) {
  Settings on_device = settings;
  std::vector<DeviceSpec> devices;
  for (const DeviceSpec& device : question.devices) {
    on_device.step.device = device;
    devices.push_back(device_of(on_device));
  }
  if (devices.empty()) devices.push_back(device_of(settings));
  std::vector<plan::Budget> budgets;
  budgets.reserve(devices.size());
  for (const DeviceSpec& device : devices) budgets.push_back(budget_of(device, settings.loop));
  on_device.step.device = devices.front();
  if (question.job.is_asked() && !on_device.time) on_device.time.emplace();
  check_job(on_device, question.job);
  const std::string largest = question.largest.empty() && question.job.is_asked()
                                  ? batch_to_find(*this, on_device)
                                  : question.largest;
  const PreparedModel model = model_to_fit(*this, on_device, largest);
  check_plans(question, largest, model.settings.step);
  FitAnswer answer{.settings = model.settings, .job = question.job};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    DeviceTrial trial(*this, model, devices[i]);
    answer.reports.push_back(plan::Fitting(trial, budgets[i]).run(largest));
  }
  plan::FitReport& first = answer.reports.front();
  if (devices.size() == 1 && !first.fit.fits() && is_open_to_plans(model.settings.step))
    offer_plan(*this, model.settings, first);
  if (question.with_plans)
    for (plan::FitReport& report : answer.reports)
      find_largest_with_plan(*this, model.settings, report,
                             given_size(model.settings, largest).value_or(1));
  return answer;
}

}  // namespace symprof
