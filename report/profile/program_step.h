// The lines of a report about a step of an executed program.
#pragma once

#include <vector>

#include "profile/profile.h"
#include "record/step_options.h"
#include "report/profile/footer_line.h"
#include "report/write/json_writer.h"

namespace symprof::report {

/// Appends lines if the step has several passes, several optimizers (or one that `options` does not
/// know), or adjacent steps of another kind.
void add_program_lines(std::vector<FooterLine>& lines, const Profile& profile,
                       const StepOptions& options);

/// The member "program".
void write_program(JsonWriter& json, const ProgramFacts& facts);

}  // namespace symprof::report
