// Checkpoint plans as text, as JSON (schema symprof.checkpoint_plan/1), as a page,
// and as Python.
#pragma once

#include <fmt/format.h>

#include "report/write/layout.h"
#include "session/checkpoint_answer.h"
#include "session/session.h"

namespace symprof::report {

/// Each budget's plan, its cost and its gap to the lower bound; the curve of memory against time;
/// the alternatives.
void write_checkpoint_plan(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                           const Layout& layout);

/// The whole answer. "plan" is the first budget's, in the form of the setting `checkpoint`.
void write_checkpoint_json(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                           SettingSpeller spell = spell_plainly);

/// The curve and the alternatives as one self-contained HTML page.
void write_checkpoint_html(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                           SettingSpeller spell = spell_plainly);

/// The first budget's plan as a Python file whose apply_plan applies it to an unchanged module;
/// where expandable segments fit the budget in less time, the plan for those, which the file sets.
/// Throws Error without a plan, and for one that joins modules.
void write_checkpoint_python(fmt::memory_buffer& out, const CheckpointAnswer& answer);

/// The first budget's plan as a C++ header for modules whose forward passes are the program's own:
/// it runs the plan's modules under symprof::checkpoint. Throws Error without a plan, and for one
/// that keeps calls, joins modules or offloads: CheckpointQuestion::keeps_calls excludes such
/// plans.
void write_checkpoint_cpp(fmt::memory_buffer& out, const CheckpointAnswer& answer);

}  // namespace symprof::report
