// The answer of `symprof fit` as text and as JSON (schema symprof.fit/1).
#pragma once

#include <fmt/format.h>

#include <vector>

#include "base/setting.h"
#include "plan/fit.h"
#include "plan/rent.h"
#include "record/step_options.h"
#include "report/profile/step_options.h"
#include "report/write/layout.h"

namespace symprof::report {

/// For one device the answer, the peak and its owners, the largest size, and the changes that make
/// it fit; for several a row each. If times were requested, the devices' prices
/// (report/plan/rent.h).
void write_fit(fmt::memory_buffer& out, const std::vector<plan::FitReport>& reports,
               const plan::Job& job, const StepOptions& options, const Layout& layout);

/// All devices are in the array "devices"; the other members are those of the first.
void write_fit_json(fmt::memory_buffer& out, const std::vector<plan::FitReport>& reports,
                    const plan::Job& job, const Settings& settings,
                    SettingSpeller spell = spell_plainly);

}  // namespace symprof::report
