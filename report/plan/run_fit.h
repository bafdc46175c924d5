// The answer of `symprof fit --lengths` as text, as JSON (schema symprof.fit_run/1) and as CSV.
#pragma once

#include <fmt/format.h>

#include "base/setting.h"
#include "report/write/layout.h"
#include "session/run_fit.h"

namespace symprof::report {

/// The answer, the batch that peaks, what is reserved over the run, and settings that help.
void write_run_fit(fmt::memory_buffer& out, const RunFit& run, const RunQuestion& question,
                   const Layout& layout);

/// All passes are in the array "passes".
void write_run_fit_json(fmt::memory_buffer& out, const RunFit& run, const RunQuestion& question,
                        SettingSpeller spell = spell_plainly);

/// A line for each pass on the device, up to the one that is refused.
void write_run_fit_csv(fmt::memory_buffer& out, const RunFit& run);

}  // namespace symprof::report
