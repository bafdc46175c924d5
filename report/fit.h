// Whether a model fits, as text and as JSON (schema symprof.fit/1).
#pragma once

#include <fmt/format.h>

#include "plan/fit.h"
#include "report/layout.h"
#include "shape/step.h"

namespace symprof::report {

/// The answer, the peak and who holds it, the largest size, and what would make it fit.
void write_fit(fmt::memory_buffer& out, const plan::FitReport& fit, const Recording& recording,
               const StepOptions& options, const Layout& layout);

void write_fit_json(fmt::memory_buffer& out, const plan::FitReport& fit, const Recording& recording,
                    const StepOptions& options);

}  // namespace symprof::report
