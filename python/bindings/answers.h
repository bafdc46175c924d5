// Results of fit and formulas, for Python.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/fit.h"
#include "plan/rent.h"
#include "python/bindings/profile_handle.h"
#include "report/formulas/formulas.h"

namespace symprof::python {

struct FitHandle {
  std::vector<plan::FitReport> reports;
  Settings settings;
  plan::Job job;

  /// True if it fits into each device.
  bool fits() const;
  std::string text(std::optional<int> width) const;
  std::string json() const;
};

/// Merges the results for several devices, one each.
FitHandle joined(const std::vector<FitHandle>& fits);

/// Tells if a program that has run fits into its device; with the step time if `job` asks for it.
/// Throws Error as budget_of and add_times do.
FitHandle fit_of(const ProfileHandle& profile, const plan::Job& job);

struct FormulaHandle {
  report::FormulaReport report;
  std::vector<report::Column> columns;

  std::string text(std::optional<int> width) const;
  std::string json() const;
};

/// Formulas of the totals, and of the rows and columns of `request`. Throws as find_formulas does.
FormulaHandle formulas_of(Session& session, const Settings& settings,
                          const std::vector<std::string>& dimensions, const TableRequest& request);

/// A dimension's name and its initial size.
using NamedStart = std::pair<std::string, std::int64_t>;
/// As above for a program: `profile_at` runs it with one size per dimension.
FormulaHandle formulas_of(
    const std::vector<NamedStart>& dimensions, const Settings& settings,
    const std::function<ProfileHandle(const std::vector<std::int64_t>&)>& profile_at,
    const TableRequest& request);

}  // namespace symprof::python
