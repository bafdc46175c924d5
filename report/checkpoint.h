// Checkpoint plans as text, as JSON (schema symprof.checkpoint_plan/1), as a page,
// and as Python.
//
// Public header.
#pragma once

#include <fmt/format.h>

#include "report/write/layout.h"
#include "session/session.h"

namespace symprof::report {

/// Each budget's plan, what it costs and how much better another one could be; the curve of memory
/// against time; the alternatives.
void write_checkpoint_plan(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                           const Layout& layout);

/// All of it. "plan" is that of the first budget, as the setting `checkpoint` takes it.
void write_checkpoint_json(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                           SettingSpeller spell = spell_plainly);

/// The curve and the alternatives as one HTML page that needs no other file.
void write_checkpoint_html(fmt::memory_buffer& out, const CheckpointAnswer& answer,
                           SettingSpeller spell = spell_plainly);

/// The first budget's plan as a Python file whose apply_plan carries it out on an unchanged
/// module; where segments that grow hold the budget for less, the plan for those, which the file
/// sets. Throws Error where there is no plan, or one that joins modules.
void write_checkpoint_python(fmt::memory_buffer& out, const CheckpointAnswer& answer);

/// The first budget's plan as a C++ header for modules whose forward passes are the program's own:
/// it runs those of the plan under symprof::checkpoint. Throws Error where there is no plan, or one
/// that keeps calls, joins modules or offloads: CheckpointQuestion::keeps_calls asks for another.
void write_checkpoint_cpp(fmt::memory_buffer& out, const CheckpointAnswer& answer);

}  // namespace symprof::report
