// What fit and formulas answer, for Python.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/fit.h"
#include "python/bindings/profile_handle.h"
#include "report/formulas.h"

namespace symprof::python {

struct FitHandle {
  std::vector<plan::FitReport> reports;
  Settings settings;
  plan::Job job;

  /// Whether it fits into each device.
  bool fits() const;
  std::string text(std::optional<int> width) const;
  std::string json() const;
};

/// The answers for several devices, one for each, as one.
FitHandle joined(const std::vector<FitHandle>& fits);

/// Whether a program that ran fits into the device that it ran for, and how long its step takes
/// where `job` asks for something. Throws Error as budget_of and add_times.
FitHandle fit_of(const ProfileHandle& profile, const plan::Job& job);

struct FormulaHandle {
  report::FormulaReport report;
  std::vector<report::Column> columns;

  std::string text(std::optional<int> width) const;
  std::string json() const;
};

/// Formulas of the totals, and of the rows and columns of `request`. Throws as find_formulas.
FormulaHandle formulas_of(Session& session, const Settings& settings,
                          const std::vector<std::string>& dimensions, const TableRequest& request);

/// A dimension's name, and the size to start from.
using NamedStart = std::pair<std::string, std::int64_t>;
/// The same of a program: `profile_at` runs it with one size for each of `dimensions`.
FormulaHandle formulas_of(
    const std::vector<NamedStart>& dimensions, const Settings& settings,
    const std::function<ProfileHandle(const std::vector<std::int64_t>&)>& profile_at,
    const TableRequest& request);

}  // namespace symprof::python
