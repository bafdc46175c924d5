// Plans for several devices as text, as JSON (schema symprof.parallel_plan/1), and as Python.
#pragma once

#include <fmt/format.h>

#include "report/write/layout.h"
#include "session/parallel_plan.h"

namespace symprof::report {

/// The plan, its costs, and the alternatives with the change that each would need to win.
void write_parallel_plan(fmt::memory_buffer& out, const ParallelAnswer& answer,
                         const Layout& layout);

void write_parallel_json(fmt::memory_buffer& out, const ParallelAnswer& answer,
                         SettingSpeller spell = spell_plainly);

/// A file that applies the plan to a module under torchrun. Throws Error without a plan, and for
/// one that the file cannot apply.
void write_parallel_python(fmt::memory_buffer& out, const ParallelAnswer& answer);

/// "does not fit: 3.20 GiB more and it would win"
std::string why_text(const plan::LayoutAlternative& line);

}  // namespace symprof::report
