#include "python/bindings/answers.h"

#include <algorithm>

#include "report/plan/fit.h"
#include "session/formulas.h"
#include "session/session.h"

namespace symprof::python {
bool FitHandle::fits() const {
  return std::ranges::all_of(reports, [](const auto& report) { return report.fit.fits(); });
}

FitHandle joined(const std::vector<FitHandle>& fits) {
  FitHandle all{.settings = fits.at(0).settings, .job = fits.at(0).job};
  for (const FitHandle& one : fits)
    all.reports.insert(all.reports.end(), one.reports.begin(), one.reports.end());
  return all;
}

std::string FitHandle::text(std::optional<int> width) const {
  fmt::memory_buffer out;
  report::write_fit(out, reports, job, settings.step, {.width = width, .spell = spell_as_argument});
  return fmt::to_string(out);
}

std::string FitHandle::json() const {
  fmt::memory_buffer out;
  report::write_fit_json(out, reports, job, settings, spell_as_argument);
  return fmt::to_string(out);
}

namespace {

/// The time of the profiled step, computed if `job` needs it.
std::optional<StepTime> time_of(const ProfileHandle& profile, const plan::Job& job) {
  if (profile.profile.time || !job.is_asked()) return profile.profile.time;
  Profile timed = profile.profile;
  Settings settings = profile.settings;
  settings.time.emplace();
  add_times(timed, settings);
  return timed.time;
}

}  // namespace

FitHandle fit_of(const ProfileHandle& profile, const plan::Job& job) {
  const DeviceSpec device = device_of(profile.settings);
  const profile::LoopOptions& loop = profile.settings.loop;
  plan::FitReport report{
      .device = device, .budget = budget_of(device, loop), .recording = profile.program->recording};
  std::optional<plan::ProgramRun> run;
  if (const auto range = profile.program_range()) run.emplace(*range, profile.program_memory);
  report.fit = plan::fit(report.recording, device, report.budget, loop, run);
  if (report.fit.fits()) report.time = time_of(profile, job);
  return {{std::move(report)}, profile.settings, job};
}

std::string FormulaHandle::text(std::optional<int> width) const {
  fmt::memory_buffer out;
  report::write_formulas(out, report, report.settings.step, columns,
                         {.width = width, .spell = spell_as_argument});
  return fmt::to_string(out);
}

std::string FormulaHandle::json() const {
  fmt::memory_buffer out;
  report::write_formulas_json(out, report, report.settings, spell_as_argument);
  return fmt::to_string(out);
}

FormulaHandle formulas_of(Session& session, const Settings& settings,
                          const std::vector<std::string>& dimensions, const TableRequest& request) {
  FormulaHandle handle{.columns = columns_of(request, settings)};
  static_cast<FormulaAnswer&>(handle.report) = find_formulas(
      session, settings,
      report::question_about(handle.report.list, dimensions, rows_of(request), handle.columns));
  return handle;
}

FormulaHandle formulas_of(
    const std::vector<NamedStart>& dimensions, const Settings& settings,
    const std::function<ProfileHandle(const std::vector<std::int64_t>&)>& profile_at,
    const TableRequest& request) {
  FormulaHandle handle{.columns = columns_of(request, settings)};
  SizedModel model{
      .profile_at = [&](const plan::Sizes& sizes) { return profile_at(sizes).profile; },
      .settings = settings};
  std::vector<std::string> names;
  for (const auto& [name, start] : dimensions) {
    model.variables.push_back({.name = name, .start = start});
    names.push_back(name);
  }
  static_cast<FormulaAnswer&>(handle.report) = find_formulas(
      model, report::question_about(handle.report.list, names, rows_of(request), handle.columns));
  return handle;
}

}  // namespace symprof::python
